// The documentation site: `npm run docs` builds it to docs/.vitepress/dist. A dead link fails the build.
import { defineConfig } from "vitepress";
import { diagramHtml } from "../diagrams.mjs";

const page = (text: string, link: string) => ({ text, link });

export default defineConfig({
  title: "Mote",
  description: "A device agent for ThingsBoard: TypeScript, ESP32 boards and Linux",
  lang: "en",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/favicon.svg" }]],
  srcExclude: ["recordings/**"],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
    // Vue would take `{{x}}` in code for an expression of its own.
    config: (md) => {
      md.renderer.rules.code_inline = (tokens, index) =>
        `<code v-pre>${md.utils.escapeHtml(tokens[index]?.content ?? "")}</code>`;
      const fence = md.renderer.rules.fence;
      md.renderer.rules.fence = (tokens, index, ...rest) => {
        const { info, content } = tokens[index] ?? { info: "", content: "" };
        if (info.trim() !== "mermaid") return fence?.(tokens, index, ...rest) ?? "";
        const heading = tokens.slice(0, index).findLastIndex(({ type }) => type === "heading_open");
        return diagramHtml(content, `Diagram: ${tokens[heading + 1]?.content ?? ""}`);
      };
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      page("Get started", "/start/five-minutes"),
      page("Guides", "/guides/telemetry"),
      page("Reference", "/reference/cli"),
      page("Understand", "/understand/architecture"),
    ],
    sidebar: [
      {
        text: "Start",
        items: [
          page("Try it in five minutes", "/start/five-minutes"),
          page("ESP32 from zero", "/start/esp32"),
          page("Your own Node program", "/start/node-program"),
          page("A Moddable project", "/start/moddable-project"),
          page("A Linux service", "/start/linux-service"),
        ],
      },
      {
        text: "Guides",
        items: [
          page("Telemetry and offline operation", "/guides/telemetry"),
          page("RPC and attributes", "/guides/rpc-attributes"),
          page("Firmware updates", "/guides/firmware"),
          page("Rollouts", "/guides/rollouts"),
          page("Battery", "/guides/battery"),
          page("Energy", "/guides/energy"),
          page("When things change", "/guides/changes"),
          page("Manufacturing", "/guides/manufacturing"),
          page("Upgrade and rollback", "/guides/upgrade"),
          page("Security", "/security"),
          page("Debug a device", "/guides/debug"),
          page("Recipes", "/guides/recipes"),
          page("Real ThingsBoard servers", "/guides/servers"),
          page("Operate devices", "/guides/operate"),
          page("Reports", "/guides/reports"),
        ],
      },
      {
        text: "Reference",
        items: [
          page("CLI", "/reference/cli"),
          page("Options and configuration", "/reference/options"),
          page("API", "/reference/api/"),
          page("Names that Mote uses", "/reference/names"),
          page("Boards and memory", "/reference/boards"),
          page("Protocol", "/reference/protocol"),
          page("Documented limits", "/reference/limits"),
        ],
      },
      {
        text: "Understand",
        items: [
          page("Architecture", "/understand/architecture"),
          page("Testing", "/testing"),
          page("Measurements", "/understand/measurements"),
          page("Code for XS", "/understand/xs"),
          page("Dependencies", "/understand/dependencies"),
          page("Decision records", "/understand/decisions"),
        ],
      },
    ],
  },
});
