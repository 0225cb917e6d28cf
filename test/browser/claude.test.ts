import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { NativeClient } from '../../src/client/client.ts'
import { corral } from '../cli/support.ts'
import { claudeAbsent, scriptedClaude } from '../support/claude-env.ts'
import type { TestDaemon, TestDaemonOptions } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/wait.ts'
import { inRepository, opened } from './opened.ts'
import { base64, drips, ended, openPage, saidOn } from './session-support.ts'
import { live, nativeFor, withoutBrowser, type BrowserOptions } from './support.ts'

/*
 * The dashboard with the real claude, whose model is a script on loopback.
 */

const options = { skip: withoutBrowser || claudeAbsent }

async function withClaude(t: TestContext, more: BrowserOptions & { daemon?: TestDaemonOptions } = {}) {
  const claude = await scriptedClaude()
  t.after(() => claude.close())
  return opened(t, { ...more, daemon: { ...more.daemon, env: { ...claude.env, ...more.daemon?.env } } })
}

async function claudeSession(
  client: NativeClient,
  daemon: TestDaemon,
  mode: 'ask' | 'auto' = 'auto',
): Promise<string> {
  const about = { agent: 'claude', cwd: daemon.project, mode, title: 'With Claude' }
  return (await client.call('session.create', about)).id
}

const card = (page: Page) => page.locator('.decision')
const end = (page: Page, count = 1) =>
  until(async () => (await page.locator('.entry[data-kind="end"]').count()) === count, `${count} turns ended`)

test(
  'a new session with claude from the dialog: it streams, asks, is answered, and is done',
  options,
  async (t) => {
    const { page, client, daemon } = await withClaude(t)
    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: 'Claude Code' }).check()
    await dialog.getByLabel('Directory').fill(daemon.project)
    await dialog.getByRole('radio', { name: 'Ask' }).check()
    await dialog.getByLabel('First message').fill('[[shell touch yes.txt]]')
    await dialog.getByRole('button', { name: 'Start', exact: true }).click()
    await page.waitForURL('**/s/*')
    await card(page).waitFor()
    assert.equal(await card(page).locator('.decision-command').textContent(), 'touch yes.txt')
    assert.ok(!existsSync(join(daemon.project, 'yes.txt')))
    await card(page).getByRole('button', { name: 'Allow once' }).click()
    await end(page)
    assert.ok(existsSync(join(daemon.project, 'yes.txt')))
    const { decisions } = await client.call('approval.history')
    assert.equal(decisions[0]!.decidedBy, 'dashboard')
  },
)

test(
  'a decision about claude’s command is answered from the command line, and leaves the page',
  options,
  async (t) => {
    const { page, client, daemon } = await withClaude(t)
    const sessionId = await claudeSession(client, daemon, 'ask')
    await openPage(page, daemon, sessionId)
    await client.call('session.send', { sessionId, content: '[[shell touch no.txt]]' })
    await card(page).waitFor()
    const [approval] = (await client.call('approval.list')).approvals
    const { code, stderr } = await corral(daemon.env, ['deny', approval!.id, 'not on a Friday'])
    assert.equal(code, 0, stderr)
    await card(page).waitFor({ state: 'detached' })
    await page.getByText('refused by cli').waitFor()
    await end(page)
    assert.match((await saidOn(page)).at(-1)!, /not on a Friday/)
    assert.ok(!existsSync(join(daemon.project, 'no.txt')))
  },
)

test('a reload, and a daemon that is killed, in the middle of claude’s answer', options, async (t) => {
  const port = String(await freePort())
  const expectedErrors = /WebSocket|ERR_CONNECTION|Failed to load/
  const { page, client, daemon } = await withClaude(t, {
    expectedErrors,
    daemon: { env: { CORRAL_PORT: port } },
  })
  const sessionId = await claudeSession(client, daemon)
  await openPage(page, daemon, sessionId)
  const sent = await client.call('session.send', { sessionId, content: '[[drip 300 40]]' })
  const words = (count: number) =>
    until(async () => ((await saidOn(page)).at(-1) ?? '').split(' ').length >= count, `${count} words`)
  await words(5)
  await page.reload()
  await live(page)
  await words(10)
  await daemon.kill9()
  await page.getByText('Connection lost. ').waitFor()
  await daemon.restart()
  await live(page)
  await ended(await nativeFor(t, daemon), sent.turnId)
  await end(page)
  assert.deepEqual(await saidOn(page), [drips(300)])
})

test('claude’s sub-agent, and a picture that it looks at, are shown', options, async (t) => {
  const { page, client, daemon } = await withClaude(t)
  const dot = join(daemon.project, 'dot.png')
  writeFileSync(dot, readFileSync(new URL('../../docs/pictures/now-desk-light.png', import.meta.url)))
  const sessionId = await claudeSession(client, daemon)
  await openPage(page, daemon, sessionId)
  const say = async (content: string): Promise<void> => {
    const { turnId } = await client.call('session.send', { sessionId, content })
    await ended(client, turnId)
  }
  await say(`[[call Read ${base64({ file_path: dot })}]]`)
  await end(page, 1)
  await page.locator('.entry-call .entry-line').first().click()
  const picture = page.locator('.entry-inner .picture img')
  await picture.waitFor()
  await until(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth > 0), 'it is drawn')
  const prompt = '[[say found nothing]]'
  await say(
    `[[call Task ${base64({ description: 'Look around', prompt, subagent_type: 'general-purpose' })}]]`,
  )
  await end(page, 2)
  await page.locator('.entry-call .entry-line', { hasText: 'Look around' }).click()
  await page.getByText('found nothing').first().waitFor()
})

test('what claude did is seen, restored from a checkpoint, done again and merged', options, async (t) => {
  const { page, client, go } = await withClaude(t)
  const made = { agent: 'claude', worktree: true, title: 'Say two' } as const
  const { repository, sessionId, cwd } = await inRepository(t, client, { 'a.txt': 'one\n' }, made)
  const edit = async (): Promise<void> => {
    const { turnId } = await client.call('session.send', { sessionId, content: '[[shell echo two > a.txt]]' })
    await ended(client, turnId)
    assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'two\n')
  }
  await client.call('session.configure', { sessionId, mode: 'auto' })
  await edit()
  await go(`/s/${sessionId}/changes`)
  await page.getByText('added: two', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Checkpoints' }).click()
  await page.getByRole('button', { name: 'Look', exact: true }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
  await page.getByText('1 file restored.').waitFor()
  assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'one\n')
  await edit()
  await go(`/s/${sessionId}/changes?scope=branch`)
  await page.getByRole('button', { name: 'Merge' }).click()
  await page.getByLabel('Message of the commit').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: /Merge/ }).click()
  await page.getByText(/^Merged.*: the branch is at/).waitFor()
  assert.equal(readFileSync(join(repository.path, 'a.txt'), 'utf8'), 'two\n')
})
