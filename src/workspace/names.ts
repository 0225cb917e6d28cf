/*
 * Names of files as git has them: a character for each byte. Not every name is UTF-8, and git and the file system want them
 * back as they are.
 */

/** What git prints with `-z`, one by one. */
export function namesIn(output: Buffer): string[] {
  return output.toString('latin1').split('\0').slice(0, -1)
}

/** The same names, for git to read. */
export function asInput(names: readonly string[]): Buffer {
  return Buffer.from(names.map((name) => `${name}\0`).join(''), 'latin1')
}

/** For people. */
export function shown(name: string): string {
  return Buffer.from(name, 'latin1').toString()
}

/** From people. */
export function asName(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** For the file system. */
export function pathTo(root: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${root === '/' ? '' : root}/`), Buffer.from(name, 'latin1')])
}
