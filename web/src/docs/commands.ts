// What somebody wants who copies a block from a terminal: the commands, without prompts and answers.

const prompt = /^\$ /;

/** All of the text when no line of it begins with a prompt. */
export function commandsOf(text: string): string {
  const commands: string[] = [];
  let goesOn = false;
  for (const line of text.split("\n")) {
    if (prompt.test(line) || goesOn) {
      commands.push(line.replace(prompt, ""));
      goesOn = line.endsWith("\\");
    }
  }
  return commands.length === 0 ? text : commands.join("\n");
}
