import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { tokenOf, webSocketOf } from '../door/support.ts'
import { exampleProject } from '../support/examples.ts'
import { exitOf, until } from '../support/wait.ts'
import { browserFor, daemonFor, withoutBrowser } from './support.ts'

test('the example page asks an agent, with the client for browsers', { skip: withoutBrowser }, async (t) => {
  const project = await exampleProject()
  t.after(() => project.remove())
  const daemon = await daemonFor(t)
  const server = spawn(process.execPath, ['page/serve.ts'], {
    cwd: project.directory,
    env: { PATH: process.env['PATH'], PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(async () => {
    server.kill('SIGKILL')
    await exitOf(server, () => 'the server ends')
  })
  let said = ''
  server.stdout.on('data', (data: Buffer) => (said += data.toString()))
  const address = await until(() => /^http:\S+/.exec(said)?.[0])
  const browser = await browserFor(t, daemon, { alsoAllowed: new URL(address).origin })
  const page = await browser.page()
  await page.goto(address)
  const status = page.getByRole('status')
  await page.getByLabel('URL').fill(webSocketOf(daemon))
  await page.getByLabel('Token').fill('wrong')
  await page.getByLabel('Directory').fill(daemon.project)
  await page.getByLabel('Agent').fill('demo')
  await page.getByLabel('Question').fill('[[drip 20 5]]')
  await page.getByRole('button').click()
  await until(async () => (await status.textContent())?.includes('corral token show'))
  await page.getByLabel('Token').fill(tokenOf(daemon))
  await page.getByRole('button').click()
  await until(async () => (await status.textContent())?.startsWith('done'))
  assert.match((await page.locator('pre').textContent()) ?? '', /^w1 w2 .* w20$/)
})
