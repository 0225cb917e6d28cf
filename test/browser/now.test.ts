import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/wait.ts'
import { asking, decided, ended, titlesIn, untilIn, untilToast } from './asking.ts'
import {
  browserFor,
  daemonFor,
  heldMoments,
  live,
  nativeFor,
  quiet,
  signIn,
  toasts,
  withoutBrowser,
} from './support.ts'

const options = { skip: withoutBrowser }

test('sessions stand where they belong, and the window says how many need you', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  await asking(client, daemon, { title: 'Asks', command: 'ls' })
  await ended(client, daemon, 'Ended')
  await ended(client, daemon, 'Failed', '[[fail 529]]')
  await signIn(page, client)
  await untilIn(page, 'Needs you', ['Asks', 'Failed'])
  await untilIn(page, 'Done since you looked', ['Ended'])
  await until(async () => (await page.title()) === '(2) Now · Corral', 'the title has the number')
  const icon = await page.locator('link[rel="icon"]').getAttribute('href')
  assert.match(decodeURIComponent(icon ?? ''), />2<\/text>/)
  await page.getByText('Asks: ls').waitFor()
  await page.getByText('Failed: The model answered with status 529').waitFor()
})

test('from the first key to an answered decision with the keyboard alone', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  const { approvalId } = await asking(client, daemon, { title: 'Asks', command: 'make it' })
  await signIn(page, client)
  await untilIn(page, 'Needs you', ['Asks'])
  await page.keyboard.press('j')
  await until(
    () => page.evaluate(() => document.activeElement?.className.includes('session-row-title')),
    'the row has the focus',
  )
  await page.keyboard.press('1')
  await page.locator('.peek [data-answer="1"]:not([aria-disabled="true"])').waitFor()
  assert.equal(
    (await client.call('approval.get', { approvalId })).decision,
    null,
    'the first press shows the question and answers nothing',
  )
  await page.keyboard.press('1')
  assert.deepEqual(await decided(client, approvalId), { behavior: 'allow', by: 'dashboard' })
  await untilIn(page, 'Needs you', [])
  assert.deepEqual(await toasts(page), [], 'nobody is told what they did themselves')
})

test('other numbers allow for the session, and refuse with words', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  const first = await asking(client, daemon, { title: 'First', command: 'make one' })
  const second = await asking(client, daemon, { title: 'Second', command: 'make two' })
  await signIn(page, client)
  await untilIn(page, 'Needs you', ['First', 'Second'])
  await page.keyboard.press('j')
  await page.keyboard.press('Space')
  await page.locator('.peek [data-answer="2"]:not([aria-disabled="true"])').waitFor()
  await page.keyboard.press('2')
  assert.deepEqual(await decided(client, first.approvalId), {
    behavior: 'allow',
    forSession: true,
    by: 'dashboard',
  })
  await untilIn(page, 'Needs you', ['Second'])
  await page.getByRole('link', { name: 'Second' }).focus()
  await page.keyboard.press('4')
  await page.locator('.peek [data-answer="4"]:not([aria-disabled="true"])').waitFor()
  await page.keyboard.press('4')
  await page.locator('.peek textarea').waitFor()
  await page.keyboard.type('use the other one, 1 time')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  assert.deepEqual(await decided(client, second.approvalId), {
    behavior: 'deny',
    comment: 'use the other one, 1 time',
    by: 'dashboard',
  })
})

test('two dashboards and the daemon stay in exact step', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const [one, other] = [
    await (await browserFor(t, daemon)).page(),
    await (await browserFor(t, daemon)).page(),
  ]
  await ended(client, daemon, 'Alpha')
  await ended(client, daemon, 'Beta')
  // As long as it can be undone.
  await heldMoments(other, 8000)
  await Promise.all([signIn(one, client), signIn(other, client)])
  const both = async (group: string, titles: string[]): Promise<void> => {
    await untilIn(one, group, titles)
    await untilIn(other, group, titles)
  }
  await both('Done since you looked', ['Beta', 'Alpha'])
  await one.getByRole('link', { name: 'Alpha' }).focus()
  await one.keyboard.press('p')
  await both('Done since you looked', ['Alpha', 'Beta'])
  await other.getByRole('link', { name: 'Beta' }).focus()
  await other.keyboard.press('e')
  await both('Done since you looked', ['Alpha'])
  await untilToast(other, /^Done: Beta$/)
  await other.getByRole('button', { name: 'Undo' }).click()
  await both('Done since you looked', ['Alpha', 'Beta'])
  const question = await asking(client, daemon, { title: 'Gamma', command: 'ls' })
  await both('Needs you', ['Gamma'])
  await client.call('approval.decide', { approvalId: question.approvalId, behavior: 'allow', by: 'cli' })
  await both('Needs you', [])
  await client.call('session.configure', { sessionId: question.sessionId, archived: true })
  await both('Done since you looked', ['Alpha', 'Beta'])
})

test('what is snoozed comes back by itself', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  const sessionId = await ended(client, daemon, 'Later')
  await signIn(page, client)
  await untilIn(page, 'Done since you looked', ['Later'])
  await page.keyboard.press('j')
  await page.keyboard.press('z')
  await page.getByRole('heading', { name: 'Snooze' }).waitFor()
  await page.keyboard.press('1')
  await untilIn(page, 'Snoozed', ['Later'])
  const { snoozedUntil } = (await client.call('session.get', { sessionId })).marks
  assert.ok(snoozedUntil !== null && Math.abs(snoozedUntil - Date.now() - 3_600_000) < 60_000, 'in an hour')
  await client.call('session.mark', { sessionId, snoozedUntil: Date.now() + 300 })
  await untilIn(page, 'Snoozed', [])
  await untilIn(page, 'Done since you looked', ['Later'])
})

test('to look at a session, or to peek at it, is to have seen it', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  await ended(client, daemon, 'Peeked')
  await ended(client, daemon, 'Opened')
  await signIn(page, client)
  await untilIn(page, 'Done since you looked', ['Opened', 'Peeked'])
  await page.getByRole('link', { name: 'Peeked' }).focus()
  await page.keyboard.press('Space')
  await page.locator('.peek-lines').getByText('echo: hello').waitFor()
  assert.deepEqual(
    await titlesIn(page, 'Done since you looked'),
    ['Opened', 'Peeked'],
    'it stays while it is looked at',
  )
  await page.keyboard.press('Escape')
  await untilIn(page, 'Done since you looked', ['Opened'])
  await quiet(page)
  await page.getByRole('link', { name: 'Opened' }).click()
  await page.waitForURL('**/s/*')
  await page.goBack()
  await untilIn(page, 'Done since you looked', [])
})

test('a daemon that was killed comes back with the same list, and the list goes on', options, async (t) => {
  const daemon = await daemonFor(t, { env: { CORRAL_PORT: String(await freePort()) } })
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon, { expectedErrors: /net::ERR_|503/ })
  const page = await browser.page()
  await ended(client, daemon, 'Before')
  const { approvalId } = await asking(client, daemon, { title: 'Asks', command: 'ls' })
  await signIn(page, client)
  await untilIn(page, 'Needs you', ['Asks'])
  await daemon.kill9()
  await page.getByText('Connection lost').first().waitFor()
  assert.deepEqual(
    await titlesIn(page, 'Done since you looked'),
    ['Before'],
    'what was known stays on the screen',
  )
  await daemon.restart()
  await live(page)
  const again = await nativeFor(t, daemon)
  await ended(again, daemon, 'After')
  await untilIn(page, 'Done since you looked', ['After', 'Before'])
  await again.call('approval.decide', { approvalId, behavior: 'allow', by: 'cli' })
  await untilIn(page, 'Needs you', [])
  await untilToast(page, /“ls” was allowed by the command line/)
})
