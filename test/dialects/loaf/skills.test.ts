import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findSkills } from '../../../src/dialects/loaf/skills.ts'

test('a skill of gigabytes is described by its beginning, and one that is no file is none', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'corral-skills-'))
  t.after(() => rmSync(home, { recursive: true }))
  const place = (name: string): string => {
    const directory = join(home, '.agents/skills', name)
    mkdirSync(directory, { recursive: true })
    return join(directory, 'SKILL.md')
  }
  const huge = place('huge')
  writeFileSync(huge, '---\ndescription: Much of it\n---\n')
  truncateSync(huge, 3 * 1024 ** 3)
  execFileSync('mkfifo', [place('pipe')])
  const { skills, errors } = await findSkills(home, home)
  assert.deepEqual(
    skills.map(({ name, description }) => [name, description]),
    [['huge', 'Much of it']],
  )
  assert.deepEqual(errors, [])
})
