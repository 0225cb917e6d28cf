import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { NativeClient } from '../../src/client/client.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import {
  demoSession,
  ended,
  fillLog,
  foundOn,
  noteFound,
  openPage,
  scrollTop,
  topOf,
} from './session-support.ts'
import {
  browserFor,
  daemonFor,
  nativeFor,
  originOf,
  quiet,
  signIn,
  visit,
  withoutBrowser,
} from './support.ts'

const options = { skip: withoutBrowser }

interface Stage {
  daemon: TestDaemon
  client: NativeClient
  page: Page
  id: string
}

/** A page with a session of so many turns. */
async function stageFor(t: TestContext, turns: number): Promise<Stage> {
  const daemon = await daemonFor(t)
  const { id } = await demoSession(await nativeFor(t, daemon), daemon)
  await daemon.terminate()
  await fillLog(daemon, id, turns)
  await daemon.restart()
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon)
  const page = await browser.page()
  await signIn(page, client)
  await openPage(page, daemon, id)
  await until(async () => (await topOf(page, `Answer ${turns - 1}`)) !== null, 'the newest answer is there')
  return { daemon, client, page, id }
}

/** Until it has moved. */
async function wheel(page: Page, by: number): Promise<void> {
  await page.locator('.timeline-scroller').hover()
  const before = await scrollTop(page)
  await page.mouse.wheel(0, by)
  await until(async () => (await scrollTop(page)) !== before, 'the wheel has moved something')
}

/** What is wanted is there, and nothing moves for some frames: what was drawn has been measured. */
async function settled(page: Page): Promise<number> {
  await quiet(page)
  return page.evaluate(async () => {
    const scroller = document.querySelector('.timeline-scroller')!
    for (let [last, same] = [-1, 0]; same < 10; last = scroller.scrollTop) {
      await new Promise(requestAnimationFrame)
      same = scroller.scrollTop === last ? same + 1 : 0
    }
    return scroller.scrollTop
  })
}

/** So many words of what is being said are on the page. */
function untilWords(page: Page, count: number): Promise<unknown> {
  const said = page.locator('.entry-said[data-open]')
  return until(async () => ((await said.textContent()) ?? '').split(' ').length > count, `${count} words`)
}

/** The first row that is seen whole, and where. */
function firstRow(page: Page): Promise<{ text: string; top: number }> {
  return page.evaluate(() => {
    const edge = document.querySelector('.timeline-scroller')!.getBoundingClientRect().top
    const rows = [...document.querySelectorAll('.entry')]
    const row = rows.find((one) => one.getBoundingClientRect().top >= edge)!
    return { text: row.textContent!, top: row.getBoundingClientRect().top }
  })
}

test('a reader who has scrolled up is moved by 0 pixels, whatever comes below', options, async (t) => {
  const { client, page, id } = await stageFor(t, 60)
  const sent = await client.call('session.send', { sessionId: id, content: '[[drip 800 10]]' })
  await page.locator('.entry-said[data-open]').waitFor()
  await wheel(page, -700)
  await settled(page)
  const before = await firstRow(page)
  const top = await scrollTop(page)
  const moves = await page.evaluate((start) => {
    const scroller = document.querySelector('.timeline-scroller')!
    const seen: number[] = []
    const look = (): void => {
      if (scroller.scrollTop !== start) seen.push(scroller.scrollTop)
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
    return (((window as unknown as { moves: number[] }).moves = seen), seen.length)
  }, top)
  assert.equal(moves, 0)
  await ended(client, sent.turnId)
  await client.call('session.send', { sessionId: id, content: 'and another' })
  await until(
    async () => (await page.locator('.timeline-latest').textContent())?.includes('new'),
    'new rows are counted',
  )
  assert.deepEqual(await page.evaluate(() => (window as unknown as { moves: number[] }).moves), [])
  assert.deepEqual(await firstRow(page), before)
  await page.locator('.timeline-latest').click()
  await until(async () => (await topOf(page, 'echo: and another')) !== null, 'the latest is there')
  await page.locator('.timeline-latest').waitFor({ state: 'detached' })
})

test('at the end it stays at the end, and a wheel upwards ends that at once', options, async (t) => {
  const { client, page, id } = await stageFor(t, 30)
  const sent = await client.call('session.send', { sessionId: id, content: '[[drip 100000 10]]' })
  const isAtEnd = (): Promise<boolean> =>
    page
      .locator('.timeline-scroller')
      .evaluate((one) => one.scrollHeight - one.clientHeight - one.scrollTop < 4)
  await page.locator('.entry-said[data-open]').waitFor()
  for (let words = 50; words <= 150; words += 50) {
    await untilWords(page, words)
    await until(isAtEnd, `at the end with ${words} words`)
  }
  await wheel(page, -120)
  await until(async () => !(await isAtEnd()), 'the reader has left the end')
  const top = await settled(page)
  await client.call('session.interrupt', { sessionId: id })
  await ended(client, sent.turnId)
  await until(async () => (await page.locator('.entry-said[data-open]').count()) === 0)
  assert.equal(await scrollTop(page), top)
})

test('older parts are put in front without moving what is read', options, async (t) => {
  const { page } = await stageFor(t, 400)
  for (let part = 0; part < 4; part++) {
    await wheel(page, -2500)
    await settled(page)
  }
  const before = await firstRow(page)
  await until(
    async () => (await page.locator('.timeline-scroller').evaluate((one) => one.scrollHeight)) > 10_000,
  )
  assert.deepEqual(await firstRow(page), before)
  await page.locator('.timeline-scroller').focus()
  await until(async () => {
    await page.keyboard.press('Home')
    await settled(page)
    return (await topOf(page, 'Question 0')) !== null
  }, 'the beginning is reached')
  assert.equal((await page.locator('.entry').first().textContent())?.includes('Question 0'), true)
})

test(
  'a session of 5,000 messages opens at its end, with few rows on the page, and is found in',
  options,
  async (t) => {
    const { page, daemon, id } = await stageFor(t, 2500)
    assert.ok((await page.locator('.entry').count()) < 80, 'only what is near the window is there')
    await page.keyboard.press('Control+f')
    await page.getByRole('textbox', { name: 'Find in this session' }).fill('"Question 77"')
    await page.getByText('1 found').waitFor()
    await noteFound(page)
    await page.keyboard.press('Enter')
    await until(async () => {
      const top = await topOf(page, 'Answer 77')
      return top !== null && top > 0 && top < 900
    }, 'the place is in sight')
    await until(async () => (await foundOn(page)).length === 1, 'it stands out for a while')
    await visit(page, `${originOf(daemon)}/`)
    await openPage(page, daemon, id)
    await until(async () => (await topOf(page, 'Answer 77')) !== null, 'the reader is where they were')
    assert.equal(await topOf(page, 'Answer 2499'), null)
  },
)

test('the place in a session is remembered', options, async (t) => {
  const { page, client, daemon } = await stageFor(t, 60)
  const other = await demoSession(client, daemon)
  await wheel(page, -1500)
  await settled(page)
  const before = await firstRow(page)
  const address = page.url()
  await page.evaluate((id) => {
    history.pushState(null, '', `/s/${id}`)
    dispatchEvent(new PopStateEvent('popstate'))
  }, other.id)
  await page.getByText('Nothing said yet').first().waitFor()
  await page.goBack()
  await until(
    async () => page.url() === address && (await topOf(page, before.text)) !== null,
    'the page is back',
  )
  await settled(page)
  assert.deepEqual(await firstRow(page), before)
})
