import assert from 'node:assert/strict'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { CorralError } from '../../src/core/error.ts'
import { applyTo, type Project, type ProjectEvent, type ProjectView } from '../../src/core/projects.ts'
import { isRepository } from '../../src/workspace/is-repository.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import { randomly } from '../support/random.ts'
import { makeRepository } from '../support/repository.ts'

let t: TestEngine
beforeEach(async () => {
  t = await startEngine()
})
afterEach(() => t.stop())

const refused = (code: string) => (error: unknown) => error instanceof CorralError && error.code === code
const repository = (name: string): string => makeRepository(join(t.cwd, name))
const pathsOf = ({ repos }: ProjectView): string[] => repos.map(({ path }) => path)

function projectEvents(): (ProjectEvent & { at: number })[] {
  return t.engine.events
    .read({ after: 0, limit: 9999 })
    .flatMap(({ event }) =>
      event.type.startsWith('project.') ? [event as ProjectEvent & { at: number }] : [],
    )
}

async function restart(): Promise<void> {
  await t.abandon()
  t = await startEngine({ home: t.home })
}

test('a project is made, changed, read and deleted, each with an event, and is there after a restart', async () => {
  const made = await t.engine.projects.create({ name: ' My App ', description: 'an app', orgSlug: 'acme' })
  assert.deepEqual(
    [made.name, made.description, made.orgSlug, made.rootPath],
    ['My App', 'an app', 'acme', null],
  )
  assert.equal(made.createdAt, made.updatedAt)
  const other = await t.engine.projects.create({ name: 'Other', rootPath: `${t.cwd}/` })
  assert.equal(other.rootPath, t.cwd)
  const changed = await t.engine.projects.update({ projectId: made.id, name: 'Renamed', description: null })
  assert.deepEqual([changed.name, changed.description, changed.orgSlug], ['Renamed', null, 'acme'])
  await t.engine.projects.update({ projectId: made.id, name: 'Renamed' })
  await restart()
  assert.deepEqual(
    t.engine.projects.list().map(({ name }) => name),
    ['Renamed', 'Other'],
  )
  assert.deepEqual(t.engine.projects.get(made.id), changed)
  await t.engine.projects.remove(made.id)
  assert.throws(() => t.engine.projects.get(made.id), refused('project_not_found'))
  await assert.rejects(t.engine.projects.remove(made.id), refused('project_not_found'))
  await assert.rejects(
    t.engine.projects.update({ projectId: made.id, name: 'x' }),
    refused('project_not_found'),
  )
  assert.deepEqual(
    projectEvents().map(({ type }) => type),
    ['project.created', 'project.created', 'project.updated', 'project.deleted'],
    'what changes nothing is no event',
  )
})

test('names, descriptions and paths are looked at', async () => {
  const bad = [
    { name: '' },
    { name: ' \t' },
    { name: 'x'.repeat(201) },
    { name: 'a\nb' },
    { name: 'a', description: 'x'.repeat(10_001) },
    { name: 'a', rootPath: 'relative' },
    { name: 'a', rootPath: '/a\0b' },
    { name: 'a', orgSlug: 'x'.repeat(101) },
  ]
  for (const command of bad) {
    await assert.rejects(t.engine.projects.create(command), refused('invalid'), JSON.stringify(command))
  }
  assert.deepEqual(t.engine.projects.list(), [])
  const { id, description } = await t.engine.projects.create({ name: 'x'.repeat(200), description: '  ' })
  assert.equal(description, null)
  await assert.rejects(t.engine.projects.update({ projectId: id, name: '' }), refused('invalid'))
})

test('a repository is added once and taken out; it must be one, and below the root if there is a root', async () => {
  const [one, two] = [repository('one'), repository('two')]
  const { id } = await t.engine.projects.create({ name: 'p', repos: [one] })
  const added = await t.engine.projects.addRepo(id, `${two}/`)
  assert.deepEqual(pathsOf(added), [one, two])
  await assert.rejects(t.engine.projects.addRepo(id, one), refused('repo_in_project'))
  const link = join(t.home, 'link')
  symlinkSync(one, link)
  await assert.rejects(
    t.engine.projects.addRepo(id, link),
    refused('repo_in_project'),
    'the same place by another name',
  )
  mkdirSync(join(t.cwd, 'plain'))
  for (const path of [join(t.cwd, 'plain'), join(t.cwd, 'missing'), join(one, '.git', 'HEAD')]) {
    await assert.rejects(t.engine.projects.addRepo(id, path), refused('repo_not_found'), path)
  }
  await assert.rejects(t.engine.projects.addRepo(id, 'one'), refused('invalid'))
  await assert.rejects(t.engine.projects.addRepo('nobody', one), refused('project_not_found'))
  rmSync(two, { recursive: true })
  assert.deepEqual(
    pathsOf(await t.engine.projects.removeRepo(id, two)),
    [one],
    'also when it is gone from the disk',
  )
  await assert.rejects(t.engine.projects.removeRepo(id, two), refused('repo_not_found'))
  await t.engine.projects.removeRepo(id, link)
  assert.deepEqual(pathsOf(t.engine.projects.get(id)), [])

  const rooted = await t.engine.projects.create({ name: 'q', rootPath: join(t.cwd, 'one') })
  await assert.rejects(t.engine.projects.addRepo(rooted.id, repository('one-more')), refused('invalid'))
  await t.engine.projects.addRepo(rooted.id, one)
  await assert.rejects(
    t.engine.projects.update({ projectId: rooted.id, rootPath: join(t.cwd, 'elsewhere') }),
    refused('invalid'),
  )
  await t.engine.projects.update({ projectId: rooted.id, rootPath: null })
})

test('a project with a repository that is none is not made at all', async () => {
  const good = repository('good')
  await assert.rejects(
    t.engine.projects.create({ name: 'p', repos: [good, join(t.cwd, 'bad')] }),
    refused('repo_not_found'),
  )
  await assert.rejects(
    t.engine.projects.create({ name: 'p', repos: [good, good] }),
    refused('repo_in_project'),
  )
  assert.deepEqual([t.engine.projects.list(), projectEvents()], [[], []])
})

test('the same id twice is one project', async () => {
  const id = '0190c0de-0000-7000-8000-000000000001'
  const [first, second] = await Promise.all([
    t.engine.projects.create({ name: 'one', id }),
    t.engine.projects.create({ name: 'one', id }),
  ])
  assert.deepEqual(first, second)
  assert.equal(t.engine.projects.list().length, 1)
})

test('a project is active when a session in one of its repositories is', async () => {
  const [one, two] = [repository('one'), repository('two')]
  const { id } = await t.engine.projects.create({ name: 'p', repos: [one, two] })
  const below = join(one, 'src')
  mkdirSync(below)
  repository('one-beside')
  await t.engine.sessions.create({ agent: 'demo', cwd: join(t.cwd, 'one-beside') })
  assert.deepEqual(
    t.engine.projects.get(id).repos.map(({ lastOpenedAt }) => lastOpenedAt),
    [null, null],
  )
  const session = await t.engine.sessions.create({ agent: 'demo', cwd: below })
  const seen = t.engine.projects.get(id)
  assert.deepEqual(
    seen.repos.map(({ lastOpenedAt }) => lastOpenedAt),
    [session.activeAt, null],
  )
  assert.equal(seen.lastActiveAt, Math.max(session.activeAt, seen.updatedAt))
})

test('many at once: each repository is in it exactly once or not at all, and a replay of the events says the same', async () => {
  const random = randomly(7)
  const paths = Array.from({ length: 5 }, (_, i) => repository(`r${i}`))
  const projects = await Promise.all(
    Array.from({ length: 3 }, (_, i) => t.engine.projects.create({ name: `p${i}`, repos: [paths[i]!] })),
  )
  const some = <T>(list: readonly T[]): T => list[random(list.length)]!
  const wishes = Array.from({ length: 150 }, (_, i) => {
    const projectId = some(projects).id
    const kind = random(10)
    if (kind < 4) return t.engine.projects.addRepo(projectId, some(paths))
    if (kind < 8) return t.engine.projects.removeRepo(projectId, some(paths))
    if (kind < 9) return t.engine.projects.update({ projectId, name: `name ${i}` })
    return t.engine.projects.update({ projectId, description: `about ${i}` })
  })
  const results = await Promise.allSettled(wishes)
  for (const result of results) {
    if (result.status === 'fulfilled') continue
    assert.ok(['repo_in_project', 'repo_not_found'].includes(result.reason.code), String(result.reason))
  }
  const replayed = new Map<string, Project>()
  for (const { at, ...event } of projectEvents()) {
    const known = replayed.get(event.projectId) ?? null
    const { seq: _, sessionId: __, turnId: ___, ...body } = event as ProjectEvent & Record<string, unknown>
    replayed.set(event.projectId, applyTo(known, body as ProjectEvent, at)!)
  }
  await restart()
  for (const { id } of projects) {
    const { lastActiveAt: _, repos, ...now } = t.engine.projects.get(id)
    assert.deepEqual(
      { ...now, repos: repos.map(({ path, addedAt }) => ({ path, addedAt })) },
      replayed.get(id),
    )
    assert.equal(new Set(repos.map(({ path }) => path)).size, repos.length)
  }
})

test('what a repository is: a checkout, a worktree, a bare one', async () => {
  const bare = join(t.cwd, 'bare.git')
  mkdirSync(join(bare, 'objects'), { recursive: true })
  writeFileSync(join(bare, 'HEAD'), 'ref: refs/heads/main\n')
  const worktree = join(t.cwd, 'worktree')
  mkdirSync(worktree)
  writeFileSync(join(worktree, '.git'), `gitdir: ${bare}/worktrees/x\n`)
  const text = join(t.cwd, 'text')
  mkdirSync(text)
  writeFileSync(join(text, '.git'), 'something else')
  const found = await Promise.all([repository('a'), bare, worktree, text, t.cwd].map(isRepository))
  assert.deepEqual(found, [true, true, true, false, false])
})
