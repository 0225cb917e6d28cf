import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { emptyConversation, step } from '../../core/conversation/conversation.ts'
import type { Call } from '../../core/conversation/item.ts'
import type { Event } from '../../core/event.ts'
import type { Snapshot } from './shapes.ts'
import { isObject, isoTime, stringIn } from './text.ts'

const MAX_FILE = 10 * 1024 ** 2
/** Claude stops here if it is not told to read on. */
const LINES_AT_ONCE = 2000

/** One use of the tool that reads files. */
interface FileRead {
  callId: string
  path: string
  text: string
  /** Not all of the file is in `text`. */
  partial: boolean
  at: number
}

export interface FileReads {
  add(event: Event): void
  readonly all: FileRead[]
}

/** Picks the finished reads of files out of a session's events. */
export function createFileReads(): FileReads {
  const conversation = emptyConversation()
  const all: FileRead[] = []
  return {
    all,
    add(event) {
      for (const change of step(conversation, event)) {
        const isResult = change.type === 'call' && event.type === 'tool.completed'
        const read = isResult ? readOf(change.call, event.at) : null
        if (read) all.push(read)
      }
    },
  }
}

/** Null: it is another tool, or it has failed. */
function readOf({ id, tool, input, state, output, cut }: Call, at: number): FileRead | null {
  const path = stringIn(input, 'file_path')
  if (tool !== 'Read' || state !== 'done' || output === null || path === null) return null
  const lines = linesOf(output)
  const partial = cut > 0 || isPart(input) || lines.length >= LINES_AT_ONCE
  return { callId: id, path, text: lines.join('\n'), partial, at }
}

function isPart(input: unknown): boolean {
  return isObject(input) && ((input['offset'] ?? null) !== null || (input['limit'] ?? null) !== null)
}

const NUMBER = /^ *\d+[→\t]/
const REMINDER = '\n<system-reminder>'

/** Line numbers, and what Claude is told at the end of a file, are not in the file. */
function linesOf(output: string): string[] {
  const told = `\n${output}`
  const reminded = told.indexOf(REMINDER)
  const ends = reminded >= 0 && told.trimEnd().endsWith('</system-reminder>')
  const lines = (ends ? told.slice(1, reminded).replace(/\n$/, '') : output).split('\n')
  return lines.every((line) => NUMBER.test(line)) ? lines.map((line) => line.replace(NUMBER, '')) : lines
}

/** Of a file that was read in part the whole is better, if it is still the one that was read. */
export async function snapshotOf(read: FileRead, cwd: string): Promise<Snapshot> {
  const whole = read.partial ? await wholeFile(resolve(cwd, read.path), read.at) : null
  return {
    tool_id: read.callId,
    file_path: read.path,
    content: whole ?? read.text,
    created_at: isoTime(read.at),
  }
}

async function wholeFile(path: string, readAt: number): Promise<string | null> {
  try {
    const file = await stat(path)
    const same = file.isFile() && file.size <= MAX_FILE && file.mtimeMs <= readAt
    return same ? await readFile(path, 'utf8') : null
  } catch {
    return null
  }
}
