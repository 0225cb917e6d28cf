import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startIssuer } from '../support/oauth-issuer.ts'
import { until } from '../support/wait.ts'
import { opened, overflow } from './opened.ts'
import { originOf, PHONE, quiet, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

/** Where there is git, and no agent. */
const NO_AGENTS = '/usr/bin:/bin'

/** A day of minutes, as the daemon keeps them. */
function historyIn(home: string): void {
  const now = Date.now()
  const lines = Array.from({ length: 120 }, (_, at) =>
    JSON.stringify([now - (120 - at) * 60_000, 16e9, 8e9, 60e6, 500e6 + at * 1e6, at % 4, at % 6, 30]),
  )
  mkdirSync(join(home, '.corral'), { recursive: true })
  writeFileSync(join(home, '.corral', 'resources.jsonl'), `${lines.join('\n')}\n`)
}

test('memory, sessions, agents, quota and money are told, on a desk and on a phone', options, async (t) => {
  const { client, daemon, page, go } = await opened(t, { daemon: { env: { PATH: NO_AGENTS } } })
  const { id: sessionId } = await client.call('session.create', {
    agent: 'demo',
    cwd: daemon.project,
    title: 'Uses memory',
  })
  const { turnId } = await client.call('session.send', { sessionId, content: '[[limits 63 97]] [[say hi]]' })
  await until(async () => (await client.call('turn.get', { turnId })).state === 'completed', 'it is said')
  await go('/system')
  await page.getByRole('link', { name: 'Uses memory' }).waitFor()
  const claude = page
    .getByRole('region', { name: 'Agents' })
    .getByRole('listitem')
    .filter({ hasText: 'Claude Code' })
  await claude.getByText('not installed', { exact: true }).waitFor()
  await claude.getByText('npm install -g @anthropic-ai/claude-code', { exact: true }).waitFor()
  await page.getByText('37 % left').waitFor()
  await page.getByRole('heading', { name: 'Money and tokens' }).waitFor()
  await page.getByRole('cell', { name: 'demo', exact: true }).last().waitFor()
  await page.getByText(originOf(daemon), { exact: true }).waitFor()
  for (const viewport of [{ width: 1440, height: 900 }, PHONE]) {
    await page.setViewportSize(viewport)
    assert.equal(await overflow(page), 0)
  }
})

test('memory and tiers are drawn over time', options, async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'corral-'))
  historyIn(home)
  const { page, go } = await opened(t, { daemon: { home } })
  await go('/system')
  await page
    .getByRole('img', { name: 'Memory of the agents and the daemon over time' })
    .locator('canvas')
    .waitFor()
  await page.getByRole('img', { name: 'Sessions by tier over time' }).locator('canvas').waitFor()
  await page.getByRole('radio', { name: '6 hours' }).click()
  await quiet(page)
  await page.locator('.chart').first().getByText('As a table').click()
  const rows = page.getByRole('region', { name: 'Memory of the agents' }).getByRole('row')
  await until(async () => (await rows.count()) > 100, 'the table has the minutes')
})

test('a key is kept and forgotten, and never shown', options, async (t) => {
  const { client, page, go } = await opened(t)
  await go('/system')
  const gemini = page.getByRole('listitem').filter({ hasText: 'Gemini, for Gemini CLI' })
  await gemini.getByRole('button', { name: 'Add a key' }).click()
  await page.getByRole('dialog').getByLabel('Key').fill('planted-key-of-mine')
  await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click()
  await gemini.getByText('in the file').waitFor()
  await quiet(page)
  assert.deepEqual(
    (await client.call('signin.status')).keys.map(({ name }) => name),
    ['gemini'],
  )
  assert.ok(!(await page.content()).includes('planted-key'))
  await gemini.getByRole('button', { name: 'Forget' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click()
  await gemini.getByText('in the file').waitFor({ state: 'detached' })
})

test('the daemon is stopped after a question, and the page says that it is gone', options, async (t) => {
  const { daemon, page, go } = await opened(t, { expectedErrors: /WebSocket|ERR_CONNECTION|signed out/ })
  await go('/system')
  await page.getByRole('button', { name: 'Stop the daemon' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('From here it cannot be started').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Stop the daemon' }).click()
  await dialog.getByRole('button', { name: 'Stop the daemon' }).click()
  await page
    .locator('[data-status="lost"], [data-status="connecting"]')
    .first()
    .waitFor({ state: 'attached' })
  await until(() => daemon.terminate().then(() => true), 'it is gone')
})

test('the doctor says what is wrong and what to do, and looks again', options, async (t) => {
  const { daemon, page, go } = await opened(t, { daemon: { env: { PATH: NO_AGENTS } } })
  chmodSync(daemon.corralHome, 0o755)
  await go('/system')
  const doctor = page.getByRole('region', { name: 'Doctor' })
  const findings = doctor.locator('.rows').first().getByRole('listitem')
  await findings.first().waitFor()
  assert.match(await findings.first().innerText(), /wrong\s+agents no agent but demo can be used/)
  const rights = findings.filter({ hasText: 'other users can look inside' })
  assert.match(await rights.innerText(), /look at this\s+rights/)
  await rights.getByText(`chmod 700 ${daemon.corralHome}`).waitFor()
  chmodSync(daemon.corralHome, 0o700)
  await doctor.getByRole('button', { name: 'Look again' }).click()
  await rights.waitFor({ state: 'detached' })
  await findings.first().getByText('no agent but demo').waitFor()
  await quiet(page)
  await doctor.getByText(/^Everything else/).click()
  await doctor
    .getByRole('listitem')
    .filter({ hasText: /^well\s*rights/ })
    .waitFor()
})

test('one signs in to an account: the page of the issuer, who it is, and out again', options, async (t) => {
  const issuer = await startIssuer()
  t.after(() => issuer.close())
  const env = {
    CORRAL_SIGNIN_OPENAI_ISSUER: issuer.url,
    CORRAL_SIGNIN_OPENAI_CLIENT_ID: issuer.clientId,
    CORRAL_SIGNIN_OPENAI_PORT: '0',
    CORRAL_SIGNIN_KEYCHAIN: 'false',
  }
  const { client, page, go } = await opened(t, { daemon: { env } })
  await go('/system')
  const account = page.getByRole('listitem').filter({ hasText: 'ChatGPT, for Codex' })
  const dialog = page.getByRole('dialog')

  // Whoever closes the dialog has not signed in, and nothing goes on.
  await account.getByRole('button', { name: 'Sign in' }).click()
  await dialog.getByRole('link', { name: 'Open the sign-in page' }).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await quiet(page)

  await account.getByRole('button', { name: 'Sign in' }).click()
  const link = dialog.getByRole('link', { name: 'Open the sign-in page' })
  assert.equal(await link.getAttribute('rel'), 'noopener noreferrer')
  assert.equal((await issuer.approve((await link.getAttribute('href'))!)).status, 200)
  await dialog.getByText('Signed in as pat@example.com.').waitFor()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await account.getByText('signed in', { exact: true }).waitFor()
  await account.getByText('pat@example.com').waitFor()
  await quiet(page)
  for (const secret of issuer.secrets) assert.ok(!(await page.content()).includes(secret))

  // The issuer says no.
  issuer.instead = (path, response) => {
    if (path !== '/token') return false
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"access_denied"}')
    return true
  }
  await account.getByRole('button', { name: 'Sign in again' }).click()
  await issuer.approve((await link.getAttribute('href'))!)
  await dialog.getByRole('alert').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await quiet(page)

  await account.getByRole('button', { name: 'Sign out' }).click()
  await dialog.getByRole('button', { name: 'Sign out' }).click()
  await account.getByText('signed in', { exact: true }).waitFor({ state: 'detached' })
  assert.deepEqual((await client.call('signin.status')).accounts, [])
})
