/** A shell of the system's: a program of that name elsewhere may be anything. */
const WRAPPED = /^(?:\/(?:usr\/)?bin\/)?(?:ba|z|da)?sh -l?c (.+)$/s
const PIECE = /'([^']*)'|"((?:[^"\\]|\\.)*)"|((?:[^\s'"\\]|\\.)+)/gsy

/** The command itself, where Codex names the whole line that it gives to a shell (`/bin/bash -lc 'git status'`). */
export function unwrapped(command: string): string {
  const word = WRAPPED.exec(command)?.[1]
  return (word === undefined ? null : unquoted(word)) ?? command
}

/** What a single word of a shell stands for; null when it is more than one word. */
function unquoted(word: string): string | null {
  const pieces = [...word.matchAll(PIECE)]
  const length = pieces.reduce((sum, [piece]) => sum + piece.length, 0)
  if (length !== word.length) return null
  return pieces
    .map(([, single, double, bare]) => {
      return single ?? double?.replaceAll(/\\([$`"\\])/g, '$1') ?? bare!.replaceAll(/\\(.)/gs, '$1')
    })
    .join('')
}
