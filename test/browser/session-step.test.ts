import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { NativeClient } from '../../src/client/client.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { demoSession, drips, ended, openPage, saidOn, turn } from './session-support.ts'
import { answerable, browserFor, daemonFor, nativeFor, signIn, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

/** A browser of its own that shows the session. */
async function looker(t: TestContext, daemon: TestDaemon, client: NativeClient, id: string): Promise<Page> {
  const page = await (await browserFor(t, daemon)).page()
  await signIn(page, client)
  await openPage(page, daemon, id)
  return page
}

/** All that is said on the page, from top to bottom: the rows, and the messages that wait. */
async function shownOn(page: Page): Promise<string[]> {
  const [rows, waiting] = await Promise.all([
    page.locator('.entry').allTextContents(),
    page.locator('.queue-item .queue-text').allTextContents(),
  ])
  return [...rows, ...waiting.map((text) => `waits: ${text}`)]
}

/** Waits until both show the same, and what is wanted is part of it. */
async function inStep([one, other]: readonly [Page, Page], wanted: string): Promise<string[]> {
  let seen: string[][] = []
  await until(
    async () => {
      seen = await Promise.all([shownOn(one), shownOn(other)])
      return seen[0]!.some((text) => text.includes(wanted)) && seen[0]!.join('\n') === seen[1]!.join('\n')
    },
    () => `both show ${wanted}, and the same:\n${seen.map((rows) => rows.join('\n')).join('\n---\n')}`,
  )
  return seen[0]!
}

test(
  'two browsers: the same while an answer is written, while one is asked, and of what waits',
  options,
  async (t) => {
    const daemon = await daemonFor(t)
    const client = await nativeFor(t, daemon)
    const { id: sessionId } = await demoSession(client, daemon, 'ask')
    const both = [
      await looker(t, daemon, client, sessionId),
      await looker(t, daemon, client, sessionId),
    ] as const
    const [one, other] = both
    await turn(client, sessionId, '[[think it over]] [[say well]]')
    assert.equal((await inStep(both, 'Done')).length, 4)

    // In the middle of an answer that goes on: neither has anything that was not said, nor leaves a word out.
    const whole = drips(150)
    const sent = await client.call('session.send', { sessionId, content: '[[drip 150 20]]' })
    const middle = async (page: Page): Promise<string> => (await saidOn(page))[1] ?? ''
    const lengths = [0, 0]
    while ((await client.call('turn.get', { turnId: sent.turnId })).state !== 'completed') {
      const texts = await Promise.all(both.map(middle))
      for (const [at, text] of texts.entries()) {
        assert.ok(whole.startsWith(text), text)
        assert.ok(text.length >= lengths[at]!, 'nothing is taken back')
        lengths[at] = text.length
      }
    }
    await ended(client, sent.turnId)
    await until(async () => (await inStep(both, whole)).length === 7, 'its end is told')

    // One that stands still in its middle.
    await client.call('session.send', { sessionId, content: '[[drip 2 3600000]]' })
    for (const page of both)
      await until(async () => (await page.locator('.entry-said[data-open]').count()) === 1, 'it has begun')
    await until(async () => (await inStep(both, 'w1')).at(-1) === 'w1', 'its first word is there')

    // What waits, as the one browser and then the other has it.
    for (const content of ['first', 'second', '[[shell ls]]'])
      await client.call('session.send', { sessionId, content })
    await inStep(both, 'waits: [[shell ls]]')
    await one.locator('.queue-item').nth(1).getByRole('button', { name: 'Edit' }).click()
    await one.getByLabel('Edit the message that waits').fill('second, in other words')
    await one.keyboard.press('Enter')
    await inStep(both, 'waits: second, in other words')
    await other.locator('.queue-item').nth(2).getByRole('button', { name: 'Earlier' }).click()
    await until(async () => (await shownOn(one)).at(-1) === 'waits: second, in other words', 'it is moved')
    await other.locator('.queue-item').first().getByRole('button', { name: 'Take it out' }).click()
    await until(async () => (await one.locator('.queue-item').count()) === 2, 'one is gone')
    assert.deepEqual((await inStep(both, 'waits: ')).slice(-2), [
      'waits: [[shell ls]]',
      'waits: second, in other words',
    ])

    // A question, and its answer.
    await client.call('session.interrupt', { sessionId })
    await inStep(both, 'Wants to run')
    for (const page of both) await answerable(page.locator('.decision'))
    await other.getByRole('button', { name: /^Allow once/ }).click()
    await until(
      async () => (await one.locator('.entry[data-kind="end"]').count()) === 5,
      'all turns have ended',
    )
    const rows = await inStep(both, 'second, in other words')
    assert.ok(!rows.some((text) => text.startsWith('waits: ')))
    await one.reload()
    await until(
      async () => (await one.locator('.entry[data-kind="end"]').count()) === 5,
      'all is there again',
    )
    assert.deepEqual(await inStep(both, 'second, in other words'), rows)
  },
)
