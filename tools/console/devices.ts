// The list of devices by pages: firmware, state, last seen, and a link to each.
import { ago } from "../duration.js";
import { type ListedDevice, listedDevice } from "../operator/device-list.js";
import type { Device } from "../operator/shapes.js";
import { openAccess } from "./access.js";
import {
  type DeviceList,
  emptyText,
  firmwareText,
  listOf,
  platformQuery,
  queryOf,
  SORTS,
  STATES,
} from "./model/device-list.js";
import { counted } from "./model/format.js";
import {
  askToDelete,
  type Context,
  html,
  messageOf,
  onSubmit,
  openDialog,
  options,
  type Page,
  pager,
  type Row,
  type TemplateResult,
  table,
} from "./ui.js";

export class DevicesPage implements Page {
  readonly title = "Devices";
  readonly #context: Context;
  readonly #list: DeviceList;
  #shown: readonly ListedDevice[] = [];
  #total = 0;
  #pages = 1;

  constructor(context: Context, query: URLSearchParams) {
    this.#context = context;
    this.#list = listOf(query);
  }

  async read(): Promise<void> {
    const { entities } = this.#context.session.operator;
    const { data, totalElements, totalPages } = await entities.devices(platformQuery(this.#list));
    this.#shown = data.map(listedDevice);
    [this.#total, this.#pages] = [totalElements, totalPages];
    // The last device of its page was deleted.
    if (data.length === 0 && this.#list.page > 0) this.#change({ page: Math.max(0, totalPages - 1) });
  }

  view(): TemplateResult {
    const { isTenant } = this.#context.session;
    const { search, state, sort, page } = this.#list;
    const chosen = ({ target }: Event): string => (target as HTMLSelectElement).value;
    return html`<div class="head">
        <h1 tabindex="-1">Devices</h1>
        <p class="quiet" role="status">${this.#total === 0 ? "" : counted(this.#total, "device")}</p>
        ${isTenant ? html`<button @click=${() => addDevice(this.#context)}>Add device</button>` : ""}
      </div>
      <section class="card" aria-label="Devices">
        <div class="row">
          <label class="grow">Search<input type="search" placeholder="part of a name" .defaultValue=${search}
            @input=${(event: Event) => this.#change({ search: chosen(event), page: 0 })} /></label>
          <label>State<select @change=${(event: Event) =>
            this.#change({
              state: chosen(event) as DeviceList["state"],
              page: 0,
            })}>${options(STATES, state)}</select></label>
          <label>Sort by<select @change=${(event: Event) =>
            this.#change({
              sort: chosen(event) as DeviceList["sort"],
              page: 0,
            })}>${options(SORTS, sort)}</select></label>
        </div>
        ${table(
          "Devices",
          ["Device", "Profile", "Firmware", "State", "Last seen", ...(isTenant ? ["Actions"] : [])],
          this.#shown.map((device) => this.#row(device)),
          emptyText(this.#list, isTenant),
        )}
        ${pager(page, this.#pages, (to) => this.#change({ page: to }))}
      </section>`;
  }

  #row({ id, name, profile, firmware, isActive, lastSeen }: ListedDevice): Row {
    const remove = (): Promise<unknown> => deleteDevice(this.#context, { id, name });
    return {
      id,
      cells: [
        html`<a href="#/device/${id}">${name}</a>`,
        ...[profile, firmwareText(firmware)],
        html`<span class="dot ${isActive ? "on" : ""}">${isActive ? "active" : "inactive"}</span>`,
        lastSeen === undefined ? "never" : ago(lastSeen),
        ...(this.#context.session.isTenant
          ? [html`<button class="plain" aria-label="Delete ${name}" @click=${remove}>Delete</button>`]
          : []),
      ],
    };
  }

  #change(changes: Partial<DeviceList>): void {
    Object.assign(this.#list, changes);
    const text = queryOf(this.#list).toString();
    // The address follows, so that a reload and the back button return here.
    history.replaceState(null, "", text === "" ? "#/" : `#/?${text}`);
    this.#context.refresh();
  }
}

/** Asks and deletes. True if it is gone. */
export async function deleteDevice(
  { session, refresh }: Context,
  { id, name }: { id: string; name: string },
): Promise<boolean> {
  const text =
    "This deletes its attributes, telemetry and token. A running device loses access. You cannot undo this.";
  const isDone = await askToDelete(`device ${name}`, text, () => session.operator.devices.delete(id));
  refresh();
  return isDone;
}

function addDevice(context: Context): void {
  let problem = "";
  const add = async (name: string, close: () => void): Promise<void> => {
    let device: Device;
    try {
      device = await context.session.operator.devices.create({ name });
    } catch (error) {
      problem = messageOf(error);
      return dialog.draw();
    }
    close();
    openAccess(context, device, `${name} is added`);
    context.refresh();
  };
  const dialog = openDialog(
    "Add a device",
    (close) => html`<form class="row" aria-label="Add a device"
        @submit=${onSubmit(({ name = "" }) => add(name, close))}>
        <label class="grow">Name<input name="name" required autocomplete="off" spellcheck="false" autofocus /></label>
        <p class="bad full" role="alert">${problem}</p>
        <button>Add</button>
        <button type="button" class="second" @click=${close}>Cancel</button>
      </form>`,
  );
}
