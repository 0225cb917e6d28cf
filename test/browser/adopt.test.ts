import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { TestDaemon } from '../support/daemon.ts'
import { IDS, storesIn, type Stores } from '../support/stores.ts'
import { newSession } from './opened.ts'
import { accessible, browserFor, daemonFor, nativeFor, PHONE, signIn, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

async function placeFor(t: TestContext): Promise<Stores & { daemon: TestDaemon }> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'corral-adopt-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const stores = storesIn(root)
  const program = join(stores.home, 'agent')
  writeFileSync(program, '#!/bin/sh\necho 9.9.9\n')
  chmodSync(program, 0o755)
  return { ...stores, daemon: await daemonFor(t, { env: { ...stores.env, CORRAL_CLAUDE_BIN: program } }) }
}

const SUMMARY = 'Go on with a conversation from a terminal'

test('a conversation from a terminal goes on in the dashboard, with what was said', options, async (t) => {
  const { daemon, claude } = await placeFor(t)
  claude()
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon, { viewport: PHONE, hasTouch: true, isMobile: true })).page()
  await signIn(page, client)
  await page.getByRole('button', { name: 'New session with my own agent' }).tap()
  const dialog = await newSession(page)
  await dialog.getByText(SUMMARY).tap()
  await dialog.getByRole('button', { name: 'Go on with my secret word is tangerine' }).tap()
  await page.waitForURL('**/s/*')
  await page.getByText('echo: my secret word is tangerine').first().waitFor()
  const { sessions } = await client.call('session.list', {})
  assert.deepEqual(
    sessions.map(({ nativeId, origin, mode }) => [nativeId, origin, mode]),
    [[IDS.claude, 'dashboard', 'ask']],
  )
})

test('where there is none, it says where it was looked', options, async (t) => {
  const { daemon, home } = await placeFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  await signIn(page, client)
  await page.keyboard.press('n')
  const dialog = await newSession(page)
  await dialog.getByText(SUMMARY).click()
  await dialog.getByText(join(home, '.claude/projects')).waitFor()
  await accessible(page)
})

test('one that cannot be had says why, and the dialog stays', options, async (t) => {
  const { daemon, codex } = await placeFor(t)
  codex()
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  await signIn(page, client)
  await page.keyboard.press('n')
  const dialog = await newSession(page)
  await dialog.getByText(SUMMARY).click()
  await dialog.getByRole('button', { name: /^Go on with/ }).click()
  await dialog.getByRole('alert').getByText('is not installed').waitFor()
  assert.deepEqual((await client.call('session.list', {})).sessions, [])
})

test(
  'one that may be open elsewhere takes a second word',
  { skip: withoutBrowser || process.platform !== 'linux' },
  async (t) => {
    const { daemon, claude, home, work } = await placeFor(t)
    claude({ at: Date.now() - 3_600_000 })
    const program = join(home, 'claude.js')
    writeFileSync(program, "process.stdout.write('up'); setInterval(() => {}, 1000)")
    const other = spawn(process.execPath, [program], { cwd: work, stdio: ['ignore', 'pipe', 'ignore'] })
    t.after(() => other.kill('SIGKILL'))
    await once(other.stdout, 'data')
    const client = await nativeFor(t, daemon)
    const page = await (await browserFor(t, daemon)).page()
    await signIn(page, client)
    await page.keyboard.press('n')
    const dialog = await newSession(page)
    await dialog.getByText(SUMMARY).click()
    await dialog.getByText('may be open in another program').waitFor()
    await dialog.getByRole('button', { name: /^Go on with/ }).click()
    await dialog
      .getByRole('alert')
      .getByText(`(pid ${other.pid}) and may have this conversation open`)
      .waitFor()
    await dialog.getByRole('button', { name: 'Go on all the same' }).click()
    await page.waitForURL('**/s/*')
    await page.getByText('echo: my secret word is tangerine').first().waitFor()
  },
)
