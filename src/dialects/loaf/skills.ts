import { open, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Skills } from './wire.ts'

const DEPTH = 6
const DIRECTORIES_PER_ROOT = 2000
const PREVIEW = 100
/** A skill is described at its beginning, however much there is of it. */
const HEAD = 64 * 1024

/** Looks for `SKILL.md` in the places of the repository and of the user, anew each time. */
export async function findSkills(cwd: string, home: string): Promise<Skills> {
  const roots = new Set([
    ...(await repositoryRoots(cwd)),
    join(home, '.loaf', 'skills'),
    join(home, '.agents', 'skills'),
  ])
  const found: Skills = { directories: [...roots], errors: [], skills: [] }
  for (const root of roots) if (await isThere(root)) await search(root, found)
  found.skills.sort((a, b) => a.name.localeCompare(b.name))
  return found
}

/** From the top of the repository down to here; outside of one, only here. */
async function repositoryRoots(cwd: string): Promise<string[]> {
  const up = [cwd]
  while (dirname(up.at(-1)!) !== up.at(-1)) up.push(dirname(up.at(-1)!))
  const top = (await Promise.all(up.map((place) => isThere(join(place, '.git'))))).indexOf(true)
  return up
    .slice(0, top + 1 || 1)
    .toReversed()
    .map((place) => join(place, '.agents', 'skills'))
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Breadth first. Links are not followed, so there is an end to it. */
async function search(root: string, found: Skills): Promise<void> {
  let level = [root]
  let left = DIRECTORIES_PER_ROOT
  for (let depth = 0; depth <= DEPTH && level.length > 0 && left > 0; depth++) {
    const places = level.slice(0, left)
    left -= places.length
    level = []
    for (const place of places) level.push(...(await look(place, found)))
  }
}

/** The directories below. */
async function look(place: string, found: Skills): Promise<string[]> {
  try {
    const entries = await readdir(place, { withFileTypes: true })
    if (entries.some((entry) => entry.isFile() && entry.name === 'SKILL.md')) {
      found.skills.push(describe(place, await headOf(join(place, 'SKILL.md'))))
    }
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(place, entry.name))
  } catch (error) {
    found.errors.push(`${place}: ${(error as Error).message}`)
    return []
  }
}

export async function headOf(path: string, bytes = HEAD): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

function describe(place: string, text: string): Skills['skills'][number] {
  const description = descriptionIn(text)
  const short = description.length > PREVIEW ? `${description.slice(0, PREVIEW - 1)}…` : description
  return {
    name: basename(place),
    description,
    description_preview: short,
    source_path: join(place, 'SKILL.md'),
  }
}

/** What its front matter says; else its first line that is no heading. */
export function descriptionIn(text: string): string {
  const front = /^---\r?\n([^]*?)\r?\n---/.exec(text)
  const named = /^description:[ \t]*(.*)$/m.exec(front?.[1] ?? '')?.[1]?.trim()
  if (named) return named.replace(/^(["'])(.*)\1$/, '$2')
  const body = front ? text.slice(front[0].length) : text
  return (
    body
      .split('\n')
      .map((line) => line.trim())
      .find((line) => line !== '' && !line.startsWith('#')) ?? ''
  )
}
