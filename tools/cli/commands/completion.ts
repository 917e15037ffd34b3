// `mote completion`: what a shell needs to complete words of `mote`; `mote complete` is what it asks then.
import { Argument, type Command, type Option } from "commander";
import { commandOf } from "../command-tree.js";
import { out } from "../output/table.js";

const BASH = `# mote completion bash >> ~/.bashrc
_mote() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$("$1" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _mote mote mote-cli
`;

const ZSH = `#compdef mote mote-cli
# mote completion zsh > a folder of $fpath, as _mote; or: source <(mote completion zsh), after compinit
_mote() {
  local -a found
  found=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z "\${found[1]}" ]]; then
    _files
    return
  fi
  found=("\${(@)found//:/\\:}")
  found=("\${(@)found/$'\\t'/:}")
  _describe mote found
}
compdef _mote mote mote-cli
`;

const FISH = `# mote completion fish > ~/.config/fish/completions/mote.fish
function __mote_complete
  set -l words (commandline -opc)
  set -l found ($words[1] complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c mote -f -a '(__mote_complete)'
complete -c mote-cli -f -a '(__mote_complete)'
`;

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;

const HELP = `
Examples:
  mote completion bash >> ~/.bashrc
  mote completion zsh > ~/.zfunc/_mote
  mote completion fish > ~/.config/fish/completions/mote.fish`;

export function completionCommand(program: Command): void {
  program
    .command("completion")
    .description("print a script by which a shell completes commands and options")
    .addArgument(new Argument("<shell>").choices(Object.keys(SCRIPTS)))
    .addHelpText("after", HELP)
    .action((shell: keyof typeof SCRIPTS) => out(SCRIPTS[shell]));
}

/** Asked by the shell, with the words up to the one that is being typed: a candidate a line, a tab, its description. */
export function completeCommand(program: Command, makeProgram: (called?: string) => Promise<Command>): void {
  program
    .command("complete", { hidden: true })
    .argument("[word...]")
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const called = words.length > 1 ? words[0] : undefined;
      out(candidates(await makeProgram(called), words).join(""));
    });
}

/** Empty where a file, or a text of one's own, is to be typed. */
export function candidates(program: Command, words: readonly string[]): string[] {
  const typed = words.at(-1) ?? "";
  const before = words[0] === "help" ? words.slice(1, -1) : words.slice(0, -1);
  const { command, option, operands } = read(program, before);
  const lines: [string, string][] = [];
  if (option) lines.push(...(option.argChoices ?? []).map((choice): [string, string] => [choice, ""]));
  else if (typed.startsWith("-"))
    for (const one of command.options) lines.push([one.long ?? one.short ?? "", one.description]);
  else {
    if (operands === 0) for (const one of command.commands) lines.push([one.name(), one.description()]);
    for (const choice of command.registeredArguments[operands]?.argChoices ?? []) lines.push([choice, ""]);
  }
  return lines.filter(([word]) => word.startsWith(typed)).map(([word, text]) => `${word}\t${text}\n`);
}

interface Read {
  command: Command;
  /** The one whose value is typed now. */
  option: Option | undefined;
  /** Arguments given so far. */
  operands: number;
}

function read(program: Command, words: readonly string[]): Read {
  let command = program;
  let option: Option | undefined;
  let operands = 0;
  for (const word of words) {
    if (option) {
      option = undefined;
    } else if (word.startsWith("-")) {
      const known = command.options.find(({ long, short }) => word === long || word === short);
      option = known?.required ? known : undefined;
    } else {
      const next = operands === 0 ? commandOf(command, [word]) : undefined;
      if (next && next.left === undefined) command = next.found;
      else operands++;
    }
  }
  return { command, option, operands };
}
