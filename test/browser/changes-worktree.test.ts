import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../support/wait.ts'
import { inRepository, opened } from './opened.ts'
import { withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }
const made = { worktree: true, title: 'Say two instead of one' }

test('the work of a session is merged with a message', options, async (t) => {
  const { client, page, go } = await opened(t)
  const { repository, sessionId, cwd } = await inRepository(t, client, { 'a.txt': 'one\n' }, made)
  writeFileSync(join(cwd, 'a.txt'), 'two\n')
  await go(`/s/${sessionId}/changes?scope=branch`)
  await page.getByText('added: two', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Merge' }).click()
  const message = page.getByLabel('Message of the commit')
  assert.equal(await message.inputValue(), 'Say two instead of one')
  await message.fill('Two, as agreed')
  await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click()
  await page.getByText(/^Merged.*: the branch is at/).waitFor()
  assert.equal(readFileSync(join(repository.path, 'a.txt'), 'utf8'), 'two\n')
  assert.match(repository.git('log', '-1', '--format=%s'), /Two, as agreed/)
})

test(
  'conflicts are told, nothing is touched, and the agent can be asked to resolve them',
  options,
  async (t) => {
    const { client, page, go } = await opened(t)
    const { repository, sessionId, cwd } = await inRepository(t, client, { 'a.txt': 'one\n' }, made)
    writeFileSync(join(cwd, 'a.txt'), 'two\n')
    repository.write('a.txt', 'three\n')
    repository.commit('mine')
    await go(`/s/${sessionId}/changes?scope=branch`)
    await page.getByRole('button', { name: 'Merge' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click()
    const conflicts = page.getByRole('dialog', { name: 'There are conflicts' })
    await conflicts.getByText('a.txt').waitFor()
    assert.equal(readFileSync(join(repository.path, 'a.txt'), 'utf8'), 'three\n')
    await conflicts.getByRole('button', { name: 'Ask the agent to resolve them' }).click()
    const turn = await until(
      async () => (await client.call('turn.list', { sessionId })).turns[0],
      'the agent has been asked',
    )
    assert.match(JSON.stringify(turn.input), /conflict.*a\.txt/)
  },
)

test('what discarding would lose is said before it is lost', options, async (t) => {
  const { client, page, go } = await opened(t)
  const { sessionId, cwd } = await inRepository(t, client, { 'a.txt': 'one\n' }, made)
  writeFileSync(join(cwd, 'new.txt'), 'work\n')
  await go(`/s/${sessionId}/changes?scope=branch`)
  await page.getByRole('button', { name: 'Discard' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Discard', exact: true }).click()
  await dialog.getByText('new.txt').waitFor()
  assert.ok(existsSync(join(cwd, 'new.txt')))
  await dialog.getByRole('button', { name: 'Discard it and lose the work' }).click()
  await page.getByText('The worktree is gone.').waitFor()
  assert.equal(existsSync(cwd), false)
})
