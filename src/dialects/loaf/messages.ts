import { textOf, type Content } from '../../core/content.ts'
import { skillIn } from './mentions.ts'
import type { Attachment } from './wire.ts'

/** What somebody said, and the skills it came with. The log keeps no names of files; who sent them may still know. */
export function saidIn(input: readonly Content[], paths: readonly string[] = []) {
  const skills = input.slice(1).map(skillIn)
  const said = input.filter((_, at) => at === 0 || skills[at - 1] === null)
  const images = input
    .filter((part) => part.type === 'image')
    .map(({ mediaType, data }, at): Attachment => {
      const path = paths[at] ?? `image-${at + 1}.${mediaType.split('/')[1] ?? 'png'}`
      const byteSize = Buffer.byteLength(data, 'base64')
      return { path, mimeType: mediaType, dataUrl: `data:${mediaType};base64,${data}`, byteSize }
    })
  return { text: textOf(said), images, skills: skills.filter((name) => name !== null) }
}

export function withImages<T extends object>(
  message: T,
  images: Attachment[],
): T & { images?: Attachment[] } {
  return images.length > 0 ? { ...message, images } : message
}

/** About how many tokens a text is; nobody but the model knows exactly. */
export function tokensIn(chars: number): number {
  return Math.ceil(chars / 4)
}

/** Why a turn was cut off; null: nobody has said. */
export type Stopper = 'user' | 'daemon' | 'process' | null

const STOPPED: Record<NonNullable<Stopper>, string> = {
  user: ' by user',
  daemon: ': the daemon was stopped',
  process: ': the process of the agent was ended',
}

/** As the original says it, which knows users only. */
export function interruptedText(by: Stopper, isPartial: boolean): string {
  return `response interrupted${by === null ? '' : STOPPED[by]}.${isPartial ? ' partial output kept.' : ''}`
}

/** `thinking: TITLE`, where the thought begins with one. */
export function thinkingLabel(thought: string): string {
  const line = thought.trimStart().split('\n', 1)[0] ?? ''
  const title = (/^\*\*(.+?)\*\*/.exec(line)?.[1] ?? line).trim().toLowerCase()
  return title === '' ? 'thinking...' : `thinking: ${title.slice(0, 80)}`
}
