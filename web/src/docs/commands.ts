// The commands of a terminal block, without prompts and output, for the copy button.

const prompt = /^\$ /;

/** The whole text if no line begins with a prompt. */
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
