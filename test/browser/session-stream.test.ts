import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/wait.ts'
import { demoSession, drips, ended, openPage, saidOn, turn } from './session-support.ts'
import { browserFor, daemonFor, live, nativeFor, signIn, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

/** The page shows the beginning of an answer that is not complete. */
async function streaming(page: Page, words: number): Promise<string> {
  return until(async () => {
    const text = (await saidOn(page)).at(-1) ?? ''
    return text.split(' ').length >= words && (await page.locator('.entry-said[data-open]').count()) === 1
      ? text
      : null
  }, `${words} words are on the page`)
}

test('an answer is seen as it is said, and once', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon)
  const page = await browser.page()
  await signIn(page, client)
  const session = await demoSession(client, daemon)
  await openPage(page, daemon, session.id)
  await page.getByRole('textbox', { name: 'Message' }).fill('[[drip 200 20]]')
  await page.keyboard.press('Enter')
  const early = await streaming(page, 5)
  assert.ok(drips(200).startsWith(early), early)
  await page.getByText('Running').waitFor()
  await until(async () => (await page.locator('.entry[data-kind="end"]').count()) === 1, 'the turn has ended')
  assert.deepEqual(await saidOn(page), [drips(200)])
  assert.equal(await page.locator('.entry-user-text').count(), 1)
  assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), '')
})

test('a reload in the middle of an answer goes on where it was', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon)
  const page = await browser.page()
  await signIn(page, client)
  const session = await demoSession(client, daemon)
  await turn(client, session.id, 'something before')
  const sent = await client.call('session.send', { sessionId: session.id, content: '[[drip 100000 20]]' })
  await openPage(page, daemon, session.id)
  const whole = drips(100_000)
  for (let reloads = 1; reloads <= 3; reloads++) {
    const before = await streaming(page, reloads * 20)
    await page.reload()
    await live(page)
    const after = await streaming(page, 1)
    assert.ok(whole.startsWith(after), after)
    assert.ok(after.length >= before.length, 'what was streamed before is there at once')
  }
  await client.call('session.interrupt', { sessionId: session.id })
  await ended(client, sent.turnId)
  await until(async () => (await page.locator('.entry-said[data-open]').count()) === 0)
  const [first, second, ...more] = await saidOn(page)
  assert.deepEqual([first, more], ['echo: something before', []])
  assert.ok(whole.startsWith(second!.replace(/Cut off here\.$/, '')), second)
})

test(
  'a daemon that is killed in the middle of an answer: the page says so, and goes on',
  options,
  async (t) => {
    const port = await freePort()
    const daemon = await daemonFor(t, { env: { CORRAL_PORT: String(port) } })
    let client = await nativeFor(t, daemon)
    const browser = await browserFor(t, daemon, { expectedErrors: /WebSocket|ERR_CONNECTION|Failed to load/ })
    const page = await browser.page()
    await signIn(page, client)
    const session = await demoSession(client, daemon)
    await openPage(page, daemon, session.id)
    const sent = await client.call('session.send', { sessionId: session.id, content: '[[drip 400 25]]' })
    const before = await streaming(page, 20)
    await daemon.kill9()
    await page.getByText('Connection lost. ').waitFor()
    assert.ok((await saidOn(page)).at(-1)!.startsWith(before), 'what was there stays')
    await daemon.restart()
    await live(page)
    await page.getByText('Connection lost. ').waitFor({ state: 'detached' })
    client = await nativeFor(t, daemon)
    await ended(client, sent.turnId)
    await until(
      async () => (await page.locator('.entry[data-kind="end"]').count()) === 1,
      'the end is on the page',
    )
    assert.deepEqual(await saidOn(page), [drips(400)])
    assert.equal(await page.locator('.entry-user-text').count(), 1)
  },
)

test('two dashboards and a reload show the same rows', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon)
  const first = await browser.page()
  await signIn(first, client)
  const session = await demoSession(client, daemon)
  const second = await browser.page()
  await openPage(first, daemon, session.id)
  await openPage(second, daemon, session.id)
  for (const content of ['[[think it over]] [[say well]]', '[[shell ls]]', '[[fail 500]]', 'the end'])
    await turn(client, session.id, content)
  const rows = (page: Page): Promise<string[]> => page.locator('.entry').allTextContents()
  const same = (page: Page): Promise<true> =>
    until(async () => (await rows(page)).join('\n') === seen.join('\n'), 'both show the same')
  const whole = (page: Page): Promise<true> =>
    until(async () => (await page.locator('.entry[data-kind="end"]').count()) === 4, 'all turns have ended')
  await whole(first)
  await whole(second)
  const seen = await rows(first)
  assert.equal(seen.length, 13)
  await same(second)
  await second.reload()
  await whole(second)
  await same(second)
})
