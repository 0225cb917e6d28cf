import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { BOOT_ID } from '../../src/agents/host/process.ts'
import { LoggedEvent, type Event, type EventBody } from '../../src/core/event.ts'
import { uuid } from '../../src/core/ids.ts'
import type { Batch } from '../../src/core/ports.ts'
import type { Turn } from '../../src/core/turn.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import type { NativeClient } from '../../src/client/client.ts'
import type { SessionView } from '../../src/dialects/native/wire.ts'
import { openLog } from '../../src/store/log.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { originOf, quiet, visit } from './support.ts'

export async function demoSession(
  client: NativeClient,
  daemon: TestDaemon,
  mode: SessionView['mode'] = 'auto',
): Promise<SessionView> {
  return client.call('session.create', { agent: 'demo', cwd: daemon.project, mode, title: 'A test' })
}

/** Opens the page of a session; whoever is signed in. */
export async function openPage(page: Page, daemon: TestDaemon, sessionId: string): Promise<void> {
  await visit(page, `${originOf(daemon)}/s/${sessionId}`)
  await page.locator('.composer').waitFor()
  await quiet(page)
}

/** Sends, and waits for the end of that turn. */
export async function turn(client: NativeClient, sessionId: string, content: string): Promise<void> {
  const sent = await client.call('session.send', { sessionId, content })
  await ended(client, sent.turnId)
}

export async function ended(client: NativeClient, turnId: string): Promise<void> {
  const isOver = async (): Promise<boolean> =>
    !['queued', 'running'].includes((await client.call('turn.get', { turnId })).state)
  await until(isOver, `the turn ${turnId} has ended`)
}

/** What the agent has said, as it stands on the page: one text for each message, from top to bottom. */
export function saidOn(page: Page): Promise<string[]> {
  return page.locator('.entry-said').allTextContents()
}

/** As `[[drip N ms]]` says it. */
export function drips(count: number): string {
  return Array.from({ length: count }, (_, index) => `w${index + 1}`).join(' ')
}

export function base64(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64')
}

/** Where the list of rows is scrolled to. */
export function scrollTop(page: Page): Promise<number> {
  return page.locator('.timeline-scroller').evaluate((element) => element.scrollTop)
}

/** How far a row is below the upper edge of the window; null: it is not on the page. */
export function topOf(page: Page, text: string): Promise<number | null> {
  return page.evaluate((wanted) => {
    const rows = [...document.querySelectorAll('.entry')]
    const found = rows.find((row) => row.textContent?.includes(wanted))
    return found ? found.getBoundingClientRect().top : null
  }, text)
}

/** Writes down from now on which rows stand out: they do so for two seconds only. */
export function noteFound(page: Page): Promise<void> {
  return page.evaluate(() => {
    const seen = ((globalThis as { seenFound?: string[] }).seenFound = [] as string[])
    const look = (): void => {
      for (const row of document.querySelectorAll('.entry[data-found]'))
        if (!seen.includes(row.textContent)) seen.push(row.textContent)
    }
    const where = { subtree: true, childList: true, attributes: true, attributeFilter: ['data-found'] }
    new MutationObserver(look).observe(document, where)
  })
}

export function foundOn(page: Page): Promise<string[]> {
  return page.evaluate(() => (globalThis as { seenFound?: string[] }).seenFound ?? [])
}

/** Puts turns into the log of a daemon that does not run: a question and an answer each. */
export async function fillLog(daemon: TestDaemon, sessionId: string, turns: number): Promise<void> {
  const log = openLog({
    path: join(daemon.corralHome, 'corral.db'),
    bootId: BOOT_ID,
    newId: uuid,
    warn: () => {},
  })
  const began = Date.now() - turns * 1000
  for (let from = 0; from < turns; from += 500) {
    const numbers = Array.from({ length: Math.min(500, turns - from) }, (_, index) => from + index)
    const batches = numbers.map((number) => batchOf(sessionId, number, log.head + (number - from) * 4, began))
    const events = batches.flatMap((batch) => batch.events)
    await log.append({ events, writes: batches.flatMap((batch) => batch.writes) })
  }
  await log.close(true)
}

/** The four events of a turn, and its row. */
function batchOf(sessionId: string, number: number, head: number, began: number): Batch {
  const turnId = uuid()
  const at = began + number * 1000
  const events = eventsOf(turnId, number).map((body, index) => {
    const event: Event = { turnId, ...body, seq: head + 1 + index, at, sessionId }
    return LoggedEvent.of(event)
  })
  const turn: Turn = {
    id: turnId,
    sessionId,
    state: 'completed',
    input: inputOf(number),
    key: null,
    origin: 'test',
    queuedAt: at,
    startedAt: at,
    endedAt: at,
    seq: head + 1,
    usage: NO_USAGE,
    error: null,
    text: null,
    agent: 'demo',
    mode: 'auto',
    model: null,
  }
  return { events, writes: [{ op: 'turn', turn }] }
}

function inputOf(number: number) {
  return [{ type: 'text' as const, text: `Question ${number}` }]
}

function eventsOf(turnId: string, number: number): EventBody[] {
  const input = inputOf(number)
  const text = `Answer ${number}\n\n${'It is explained at some length. '.repeat(1 + (number % 7))}`
  const message = { messageId: `m-${number}`, kind: 'text' as const, text, parent: null, aborted: false }
  return [
    { type: 'turn.queued', turnId, input, key: null, origin: 'test', position: 0 },
    { type: 'turn.started', turnId },
    { type: 'message.completed', ...message },
    { type: 'turn.completed', turnId, usage: NO_USAGE, text },
  ]
}
