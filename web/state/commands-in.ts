/** What a person would type into a terminal: in backticks, or one of the commands that advice of the daemon names. */
const COMMANDS = /`([^`\n]+)`|\b(npm install -g [^\s,;:]+|corral(?: [a-z][\w-]*)+|chmod \d{3} [^\s,;]+)/g

/** A sentence in pieces: what is to be read, and what is to be typed. */
export function withCommands(text: string): { text: string; isCommand: boolean }[] {
  const pieces: { text: string; isCommand: boolean }[] = []
  let at = 0
  for (const match of text.matchAll(COMMANDS)) {
    pieces.push({ text: text.slice(at, match.index), isCommand: false })
    pieces.push({ text: (match[1] ?? match[2])!.trim(), isCommand: true })
    at = match.index + match[0].length
  }
  pieces.push({ text: text.slice(at), isCommand: false })
  return pieces.filter((piece) => piece.text !== '')
}
