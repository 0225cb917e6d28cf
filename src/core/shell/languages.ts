import { HOLE, PART } from '../pattern.ts'
import { isUnseen } from './given.ts'

/*
 * Where programs in other languages come from: a word, a file, or what is read.
 */

/** Without a file they read a program. */
const LANGUAGES =
  /^(?:i?python|pypy|perl|ruby|node|nodejs|tsx|ts-node|bun|php|lua|osascript|tclsh|expect|julia|rscript|nu|xonsh|elvish)[\d.]*$/

const POWERSHELL = /^(?:pwsh|powershell)$/

/** They read commands of their own, some of which run others. */
const READING_COMMANDS = /^(?:ed|ex)$/

/** They take a program after `-f`. */
const TAKING_FILES = /^(?:[gm]?awk|g?make)$/

/** The next word is a program, or the name of one: `-c`, `-lne`, `--eval`. */
const CODE = /^(?:-\w*[cemE]|-pe?|--eval|--print)$/

/** Options that take the next word. */
const TAKING_A_WORD = /^(?:-[WXIdl]|--require|--import|--loader|--conditions)$/

const ASKING_FOR_HELP = /^(?:-[Vh]|--version|--help)$/

/** What is in a file that stands for the input is known if the input is. */
const INPUT = /^(?:-|\/dev\/stdin|(?:\/dev|\/proc\/self)\/fd\/0)$/

/** Whether a program in another language is run of which nothing can be seen. Scripts in files are not looked into. */
export function isUnseenCode(program: string, words: readonly string[], stdin: string | null): boolean {
  if (READING_COMMANDS.test(program)) return stdin === null && !words.some((word) => /^-\w*c/.test(word))
  if (TAKING_FILES.test(program)) return filesAfterF(words).some((file) => isUnseenFile(file, stdin))
  if (POWERSHELL.test(program)) return isUnseenPowerShell(words, stdin)
  if (!LANGUAGES.test(program)) return false
  const source = sourceOf(program, words)
  if (source === null) return false
  return 'code' in source ? isHole(source.code) : isUnseenFile(source.file, stdin)
}

/** `-Command` takes all that follows, `-` is what is read, `-EncodedCommand` is not to be read by anybody. */
function isUnseenPowerShell(words: readonly string[], stdin: string | null): boolean {
  if (words.some((word) => /^[-/]e(?:c|n\w*)?$/i.test(word))) return true
  const at = words.findIndex((word) => /^[-/]c(?:o\w*)?$/i.test(word))
  const code = words.slice(at + 1).join(' ')
  if (at > 0 && code !== '-') return isHole(code)
  const asks = words.some((word) => /^[-/](?:f|v|h|\?)/i.test(word))
  return stdin === null && !asks && (at > 0 || words.slice(1).every((word) => /^[-/]/.test(word)))
}

/** Null: it only tells about itself. */
function sourceOf(program: string, words: readonly string[]): { code: string } | { file: string } | null {
  const isPython = /^i?py/.test(program)
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at]!
    if (!/^-./.test(word)) return { file: word }
    // `-v` has Python say more, `-r` has Node load something.
    if (ASKING_FOR_HELP.test(word) || (word === '-v' && !isPython)) return null
    if (CODE.test(word) || (word === '-r' && program === 'php')) return { code: words[at + 1] ?? '' }
    const [, attached] = /^-\w*?[ceE]([^]+)$/.exec(word) ?? []
    if (attached && !word.startsWith('--')) return { code: attached }
    if (TAKING_A_WORD.test(word) || word === '-r') at += 1
  }
  return { file: '-' }
}

function filesAfterF(words: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    if (/^(?:-f|--file|--makefile)$/.test(word)) return words[at + 1] ?? []
    return /^(?:-f|--(?:file|makefile)=)([^]+)$/.exec(word)?.[1] ?? []
  })
}

/** A file whose name is not known is a script like others. */
function isUnseenFile(file: string, stdin: string | null): boolean {
  if (INPUT.test(file)) return stdin === null
  return file.includes('/dev/fd/') || isUnseen(file.replaceAll(HOLE, 'x').replaceAll(PART, 'x'))
}

const isHole = (text: string): boolean =>
  text !== '' && text.replaceAll(HOLE, '').replaceAll(PART, '').trim() === ''
