// The command that runs a device on this computer.

/** For a POSIX shell. The token is in the environment: other users can see arguments. */
export function runCommand(url: string, token: string): string {
  return `MOTE_TOKEN=${quoted(token)} npx mote-cli run --url ${quoted(url)}`;
}

function quoted(text: string): string {
  return /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
