// `mote completion` prints a shell script, which calls `mote complete`.
import { Argument, type Command, type Option } from "commander";
import { commandOf, defaultOf } from "../command-tree.js";
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
    .description("print a shell completion script")
    .addArgument(new Argument("<shell>", "your shell").choices(Object.keys(SCRIPTS)))
    .addHelpText("after", HELP)
    .action((shell: keyof typeof SCRIPTS) => out(SCRIPTS[shell]));
}

/** Called by the shell. Prints one candidate per line: word, tab, description. */
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

const isHidden = (command: Command): boolean =>
  !command.parent?.createHelp().visibleCommands(command.parent).includes(command);

/** Empty where a file or free text is expected. */
export function candidates(program: Command, words: readonly string[]): string[] {
  const typed = words.at(-1) ?? "";
  const before = words[0] === "help" ? words.slice(1, -1) : words.slice(0, -1);
  const { command, option, operands } = read(program, before);
  const lines: [string, string][] = [];
  if (option) lines.push(...(option.argChoices ?? []).map((choice): [string, string] => [choice, ""]));
  else if (typed.startsWith("-"))
    for (const one of (defaultOf(command) ?? command).options)
      lines.push([one.long ?? one.short ?? "", one.description]);
  else {
    if (operands === 0)
      for (const one of command.commands.filter((one) => !isHidden(one)))
        lines.push([one.name(), one.description()]);
    for (const choice of command.registeredArguments[operands]?.argChoices ?? []) lines.push([choice, ""]);
  }
  return lines.filter(([word]) => word.startsWith(typed)).map(([word, text]) => `${word}\t${text}\n`);
}

interface Read {
  command: Command;
  /** The option whose value is being typed. */
  option: Option | undefined;
  /** Arguments given so far. */
  operands: number;
}

function read(program: Command, words: readonly string[]): Read {
  let command = program;
  let option: Option | undefined;
  let operands = 0;
  const useDefault = (): void => {
    command = defaultOf(command) ?? command;
  };
  for (const word of words) {
    if (option) {
      option = undefined;
    } else if (word.startsWith("-")) {
      useDefault();
      const known = command.options.find(({ long, short }) => word === long || word === short);
      option = known?.required ? known : undefined;
    } else {
      const next = operands === 0 ? commandOf(command, [word]) : undefined;
      if (next && next.left === undefined) command = next.found;
      else {
        useDefault();
        operands++;
      }
    }
  }
  return { command, option, operands };
}
