/** What a person would type into a terminal: in backticks, or one of the commands that advice of the daemon names. */
const COMMANDS = /`([^`\n]+)`|\b(npm install -g [^\s,;:]+|corral(?: [a-z][\w-]*)+|chmod \d{3} [^\s,;]+)/g

/** The commands in a sentence, each once. */
export function commandsIn(text: string): string[] {
  const found = [...text.matchAll(COMMANDS)].map(([, quoted, plain]) => (quoted ?? plain)!.trim())
  return [...new Set(found)]
}
