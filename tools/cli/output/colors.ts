import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];
interface Stream {
  readonly isTTY?: boolean | undefined;
  hasColors?(): boolean;
}

/** Styles text for a terminal with colours. NO_COLOR, pipes and files get the text unchanged. */
export function colored(style: Style, text: string, stream: Stream = process.stdout): string {
  return stream.isTTY && stream.hasColors?.() ? styleText(style, text, { validateStream: false }) : text;
}
