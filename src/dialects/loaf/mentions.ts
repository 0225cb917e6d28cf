import type { Content } from '../../core/content.ts'
import { findSkills, headOf } from './skills.ts'

const MENTION = /(?<![\w$])\$([a-z0-9][\w.:-]*)/gi
const AMOUNT = /^[\d.]+$/
const LONGEST = 256 * 1024
const SKILL = /^<skill>\n<name>(.*)<\/name>\n[^]*\n<\/skill>$/

/** The names behind a `$`, in small letters. A sum of money is none, nor is the end of a sentence part of one. */
export function mentionsIn(text: string): string[] {
  const names = [...text.matchAll(MENTION)].map(([, name]) => name!.replace(/[.:]+$/, '').toLowerCase())
  return [...new Set(names)].filter((name) => !AMOUNT.test(name))
}

/** The instructions of the skills that a message mentions, to be sent along with it. A name that two skills have is nobody's. */
export async function mentionedSkills(text: string, cwd: string, home: string): Promise<Content[]> {
  const names = mentionsIn(text)
  if (names.length === 0) return []
  const { skills } = await findSkills(cwd, home)
  const called = names.map((name) => skills.filter((skill) => skill.name.toLowerCase() === name))
  const meant = called.flatMap((some) => (some.length === 1 ? some : []))
  return Promise.all(
    meant.map(async ({ name, source_path }) => {
      const instructions = (await headOf(source_path, LONGEST)).trim()
      return {
        type: 'text',
        text: `<skill>\n<name>${name}</name>\n<path>${source_path}</path>\n${instructions}\n</skill>`,
      }
    }),
  )
}

/** The name of the skill whose instructions these are. */
export function skillIn(part: Content): string | null {
  return part.type === 'text' ? (SKILL.exec(part.text)?.[1] ?? null) : null
}
