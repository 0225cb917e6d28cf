import { HOLE, PART } from '../pattern.ts'

/*
 * What shells are given to run: on the command line, as a file, or to read.
 */

/** The words of a shell, by what they are to it. */
interface ShellWords {
  lines: string[]
  /** A file to run; undefined: none, it reads its input. */
  file: string | undefined
  /** Files that it runs before. */
  before: string[]
  /** The file as a command, with its words; empty: none. */
  script: string[]
}

/** `-c line`, `-co pipefail line`, `-s`, `--rcfile file`, `file`. */
export function shellWords(program: string, words: readonly string[]): ShellWords {
  const before: string[] = []
  let flags = ''
  let at = 1
  for (; /^[-+]./.test(words[at] ?? '') && words[at] !== '--'; at += 1) {
    const word = words[at]!
    if (/^--(?:rcfile|init-file)$/.test(word)) before.push(words[(at += 1)] ?? '-')
    else if (!word.startsWith('--')) {
      flags += word
      // Each of `-o` and `-O` takes a word.
      at += word.match(/o/gi)?.length ?? 0
    }
  }
  const given = words.slice(/^--?$/.test(words[at] ?? '') ? at + 1 : at)
  if (!/c/i.test(flags)) {
    const reads = flags.includes('s')
    return { lines: [], file: reads ? undefined : given[0], before, script: reads ? [] : scriptOf(given) }
  }
  return {
    lines: OTHERS.test(program) ? [words.slice(1).join(' '), ...given] : given.slice(0, 1),
    file: '',
    before,
    script: [],
  }
}

/** `bash deploy.sh` runs `./deploy.sh`. */
export function scriptOf([file = '', ...rest]: readonly string[]): string[] {
  return isUnseen(file || undefined) ? [] : [file.includes('/') ? file : `./${file}`, ...rest]
}

/** Their options are others: every word may be a line. */
const OTHERS = /^(?:fish|csh|tcsh)$/

/** `-c 'line'`, `-lc 'line'`, `-c -e 'line'`, `-cline`, `--command=line`. */
export function linesAfterC(words: readonly string[]): string[] {
  const attached = words.flatMap(
    (word) => /^(?:--(?:session-)?(?:c|co|com\w*|call)=|-\w*?c)([^]+)$/i.exec(word)?.[1] ?? [],
  )
  const at = words.findIndex(
    (word, i) => i > 0 && /^(?:-\w*c\w*|--(?:session-)?(?:c|co|com\w*|call))$/i.test(word),
  )
  const next = at < 0 ? undefined : words.slice(at + 1).find((word) => !/^[-+]./.test(word))
  return next === undefined ? attached : [...attached, next]
}

/** A file whose contents come from this very line. */
export function isUnseen(file: string | undefined): boolean {
  if (file === undefined || file === '-' || file.includes(HOLE)) return true
  const name = file.slice(file.lastIndexOf('/') + 1)
  return name.includes(PART) || /(?:^|\/)(?:dev|proc)\//.test(file) || /^(?:stdin|tty|\d+)$/.test(name)
}
