import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../support/wait.ts'
import { decided, untilIn } from './asking.ts'
import { newSession } from './opened.ts'
import {
  answerable,
  browserFor,
  daemonFor,
  nativeFor,
  PHONE,
  quiet,
  signIn,
  withoutBrowser,
} from './support.ts'

const options = { skip: withoutBrowser }

/** Two keys, one right after the other: the page waits for the second one for a moment only. */
async function chord(page: Page, first: string, second: string): Promise<void> {
  await Promise.all([page.keyboard.press(first), page.keyboard.press(second)])
}

test('the first run: one click, a session at work, a decision, an end', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  await signIn(page, client)
  await page.getByRole('heading', { name: 'See an agent at work' }).waitFor()
  await page.getByRole('button', { name: 'Show me a session' }).click()
  await page.waitForURL('**/s/*')
  const approval = await until(async () => (await client.call('approval.list')).approvals[0], 'it asks')
  await chord(page, 'g', 'i')
  await page.getByRole('article').getByText('node --test').first().waitFor()
  await answerable(page.getByRole('article'))
  await page.keyboard.press('j')
  await page.keyboard.press('1')
  assert.equal((await decided(client, approval.id)).behavior, 'allow')
  await page.getByText('No decision waits for you').waitFor()
  await chord(page, 'g', 'n')
  await untilIn(page, 'Done since you looked', ['A first look'])
  await page.getByText('how to set up the others').waitFor()
})

for (const [where, screen] of [
  ['desk', {}],
  ['phone', { viewport: PHONE, hasTouch: true, isMobile: true }],
] as const)
  test(`who has never seen it: a session, a decision, a merge, on a ${where}`, options, async (t) => {
    const daemon = await daemonFor(t)
    const client = await nativeFor(t, daemon)
    const page = await (await browserFor(t, daemon, screen)).page()
    await signIn(page, client)
    // Only by what is written on the page.
    const press = async (words: string): Promise<void> => {
      const found = page.getByText(words, { exact: true }).filter({ visible: true })
      await found.waitFor()
      await quiet(page)
      await found.click()
    }
    await press('Show me a session')
    await page.getByText('node --test').filter({ visible: true }).first().waitFor()
    await answerable(page.locator('.decision'))
    await press('Allow once')
    await page.getByText('Done: 2 tests pass', { exact: false }).waitFor()
    await page.getByText('2 files changed, not merged yet').waitFor()
    await page.getByRole('link', { name: 'See the changes' }).click()
    await page.getByText('export function greet').first().waitFor()
    await press('Merge')
    await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click()
    await page.getByText('Nothing is left to merge').waitFor()
    const [worktree] = (await client.call('worktree.list')).worktrees
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', worktree!.from!, ...args], { encoding: 'utf8' })
    assert.equal(git('status', '--porcelain'), '')
    assert.equal(git('ls-tree', '--name-only', 'main'), 'README.md\ngreet.mjs\ngreet.test.mjs\n')
    await press('All sessions')
    await page.getByText('npm install -g @anthropic-ai/claude-code', { exact: false }).waitFor()
    await page.getByText('A first look', { exact: true }).click()
    await page.getByText('Done: 2 tests pass', { exact: false }).waitFor()
    await until(async () => (await page.getByText('not merged yet').count()) === 0, 'nothing waits any more')
  })

test('whoever has seen the demo agent only is told how to go on', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  await signIn(page, client)
  const guide = page.getByRole('region', { name: 'Agents on this machine' })
  await guide.getByText('Claude Code', { exact: true }).waitFor()
  await client.call('session.create', { agent: 'demo', cwd: daemon.project, title: 'Demo' })
  await untilIn(page, 'Quiet', ['Demo'])
  await guide.getByText('npm install -g @anthropic-ai/claude-code', { exact: false }).waitFor()
})

test('a new session from the dialog, and another one without leaving it', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  await signIn(page, client)
  await page.getByRole('heading', { name: 'See an agent at work' }).waitFor()
  await page.keyboard.press('n')
  const dialog = await newSession(page)
  await dialog.getByLabel('Directory').fill('~/pro')
  await dialog.getByRole('option', { name: daemon.project }).click()
  await dialog.getByText('Not in a git repository.').waitFor()
  await dialog.getByRole('radio', { name: 'Auto' }).check()
  await dialog.getByText('Does everything without asking you.').waitFor()
  await dialog.getByLabel('First message').fill('one')
  await page.keyboard.press('Control+Enter')
  await until(async () => (await dialog.getByLabel('First message').inputValue()) === '', 'it was sent')
  await dialog.getByLabel('First message').fill('two')
  await dialog.getByRole('button', { name: 'Start', exact: true }).click()
  await page.waitForURL('**/s/*')
  const { sessions } = await client.call('session.list', {})
  assert.deepEqual(
    sessions.map(({ agent, cwd, mode, origin }) => [agent, cwd, mode, origin]),
    [
      ['demo', daemon.project, 'auto', 'dashboard'],
      ['demo', daemon.project, 'auto', 'dashboard'],
    ],
  )
})

test('who has chosen nothing here gets the agent and the mode of the daemon', options, async (t) => {
  const daemon = await daemonFor(t, { env: { CORRAL_DEFAULTS_MODE: 'code' } })
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  await signIn(page, client)
  await page.keyboard.press('n')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('radio', { name: 'Code', checked: true }).waitFor()
  await dialog.getByRole('radio', { name: 'Demo', checked: true }).waitFor()
  await dialog.getByText('Edits files by itself; asks before it runs a command.').waitFor()
})

test('a directory that is not there is refused before anything is made', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon, { viewport: PHONE, hasTouch: true, isMobile: true })).page()
  await signIn(page, client)
  await page.getByRole('button', { name: 'New session with my own agent' }).tap()
  const dialog = await newSession(page)
  await dialog.getByLabel('Directory').fill('/nowhere/at/all')
  await dialog.getByText('There is no such directory').waitFor()
  await quiet(page)
  await dialog.getByRole('button', { name: 'Start', exact: true }).tap()
  await dialog.getByText('Choose a directory that is there.').waitFor()
  assert.deepEqual((await client.call('session.list', {})).sessions, [])
})
