import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeRepository } from '../../support/repository.ts'
import { rigFor, type Json } from './support.ts'

test('projects in both spellings, with their pushes', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const [one, two] = [makeRepository(join(rig.home, 'one')), makeRepository(join(rig.home, 'two'))]
  const made = await client.call('project.create', { name: 'MyApp', repoPaths: [one] })
  const { id } = made
  assert.deepEqual([made['name'], made['repoPaths'], made['repo_paths']], ['MyApp', [one], [one]])
  assert.equal(typeof made['createdAt'], 'number')
  assert.equal(((await client.push('project.created'))['project'] as Json)['id'], id)

  const other = await client.call('project.create', { name: 'Second', root_path: rig.home, org_slug: 'acme' })
  assert.deepEqual([other['rootPath'], other['root_path'], other['orgSlug']], [rig.home, rig.home, 'acme'])
  assert.deepEqual(
    (await client.call<Json[]>('project.list')).map(({ name }) => name),
    ['MyApp', 'Second'],
  )

  const repo = await client.call('project.addRepo', { project_id: id, repo_path: two })
  assert.deepEqual([repo['projectId'], repo['repoPath'], repo['repo_path']], [id, two, two])
  assert.equal(typeof repo['added_at'], 'number')
  assert.equal(((await client.push('project.repoAdded'))['repo'] as Json)['repoPath'], two)
  for (const params of [{ id }, { projectId: id }, { project_id: id }]) {
    const found = await client.call('project.get', params)
    assert.equal(found['name'], 'MyApp')
    assert.equal((found['project'] as Json)['id'], id)
    assert.deepEqual(
      (found['repos'] as Json[]).map(({ repoPath }) => repoPath),
      [one, two],
    )
  }
  assert.equal((await client.refusal('project.addRepo', { projectId: id, repoPath: two })).code, -32024)

  const renamed = await client.call('project.update', { projectId: id, name: 'Other', description: 'about' })
  assert.deepEqual([renamed['name'], renamed['description']], ['Other', 'about'])
  await client.push('project.updated', ({ project }) => (project as Json)['name'] === 'Other')

  assert.equal((await client.call('project.removeRepo', { projectId: id, repoPath: two }))['removed'], true)
  assert.deepEqual((await client.push('project.repoRemoved'))['repo_path'], two)
  assert.equal((await client.refusal('project.removeRepo', { projectId: id, repoPath: two })).code, -32005)
  assert.equal((await client.call('project.delete', { id }))['deleted'], true)
  const gone = await client.push('project.deleted')
  assert.deepEqual([gone['id'], gone['projectId'], gone['project_id']], [id, id, id])
  assert.equal((await client.refusal('project.get', { id })).code, -32023)
})

test('what is wrong with a project is said, and nothing is made', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const plain = join(rig.home, 'plain')
  mkdirSync(plain)
  assert.equal((await client.refusal('project.create', { name: '' })).code, -32602)
  assert.equal((await client.refusal('project.create', {})).code, -32602)
  assert.equal((await client.refusal('project.create', { name: 'x', repoPaths: [plain] })).code, -32005)
  assert.equal((await client.refusal('project.create', { name: 'x', repoPaths: ['relative'] })).code, -32602)
  assert.deepEqual(await client.call('project.list'), [])
  const { id } = await client.call('project.create', { name: 'x' })
  assert.equal((await client.refusal('project.addRepo', { id, repoPath: plain })).code, -32005)
  for (const method of ['update', 'delete', 'addRepo', 'removeRepo']) {
    const params = { id: 'none', name: 'x', repoPath: makeRepository(join(rig.home, 'repo')) }
    assert.equal((await client.refusal(`project.${method}`, params)).code, -32023, method)
  }
})

test('a project with a root takes repositories below it only', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const root = join(rig.home, 'work')
  const [inside, outside] = [makeRepository(join(root, 'in')), makeRepository(join(rig.home, 'out'))]
  const { id } = await client.call('project.create', { name: 'x', root_path: root, repoPaths: [inside] })
  assert.equal((await client.refusal('project.addRepo', { id, repo_path: outside })).code, -32602)
  assert.equal(
    (await client.refusal('project.update', { id, rootPath: join(rig.home, 'other') })).code,
    -32602,
  )
  assert.deepEqual((await client.call('project.get', { id }))['repo_paths'], [inside])
})
