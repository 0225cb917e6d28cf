import { constants } from 'node:fs'
import { copyFile, mkdir, readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'

/** Where an agent looks for its instructions in a project. */
const INSTRUCTIONS: Readonly<Record<string, string>> = {
  claude: 'CLAUDE.md',
  codex: 'AGENTS.md',
  opencode: 'AGENTS.md',
  gemini: 'GEMINI.md',
}

const MAX_FILES = 10_000
const MAX_DEPTH = 32

export interface SkillsSync {
  /** `~/.codecast/skills`. */
  source: string
  project: string
  agent: string
  onProblem(message: string, error: unknown): void
}

/**
 * Copies the user's instructions file and, for claude, skills into a project. What is there is never overwritten, the project
 * directory itself is never made, links that leave the source are left alone, and no failure gets in the way of a session.
 */
export async function syncSkills(sync: SkillsSync): Promise<void> {
  const name = INSTRUCTIONS[sync.agent]
  if (name === undefined) return
  try {
    const root = await realpath(sync.source).catch(() => null)
    if (root === null) return
    const project = await realpath(sync.project)
    const files = [join(root, name)]
    if (sync.agent === 'claude') files.push(...(await filesUnder(join(root, '.claude', 'skills'), root)))
    for (const file of files) await copyNew(file, root, project, sync)
  } catch (error) {
    sync.onProblem('Skills could not be copied', error)
  }
}

async function copyNew(file: string, root: string, project: string, sync: SkillsSync): Promise<void> {
  const target = join(project, relative(root, file))
  try {
    const real = await realpath(file)
    if (!isInside(real, root) || !(await stat(real)).isFile()) return
    if (!isInside(await realAncestor(dirname(target)), project)) return
    await mkdir(dirname(target), { recursive: true })
    await copyFile(real, target, constants.COPYFILE_EXCL)
  } catch (error) {
    if (hasCode(error, 'EEXIST') || (hasCode(error, 'ENOENT') && dirname(file) === root)) return
    sync.onProblem(`Skill file could not be copied to ${target}`, error)
  }
}

/** Where a directory that may not be there yet would really be: the nearest of its parents that is there. */
async function realAncestor(dir: string): Promise<string> {
  const real = await realpath(dir).catch(() => null)
  return real ?? realAncestor(dirname(dir))
}

/** Every file below, links to directories inside the source included, each real directory once. */
async function filesUnder(top: string, root: string): Promise<string[]> {
  const files: string[] = []
  const seen = new Set<string>()

  async function walk(dir: string, depth: number): Promise<void> {
    const real = await realpath(dir).catch(() => null)
    if (real === null || seen.has(real) || !isInside(real, root) || depth > MAX_DEPTH) return
    seen.add(real)
    for (const entry of await readdir(dir, { withFileTypes: true })) {
      if (files.length >= MAX_FILES) return
      const path = join(dir, entry.name)
      const kind = entry.isSymbolicLink() ? await stat(path).catch(() => null) : entry
      if (kind?.isDirectory()) await walk(path, depth + 1)
      else if (kind?.isFile()) files.push(path)
    }
  }

  await walk(top, 0)
  return files
}

function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
