import type { Page } from 'playwright-core'
import type { NativeClient } from '../../src/client/client.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { toasts } from './support.ts'

/** A session of the demo agent that waits for a decision about a command. */
export async function asking(
  client: NativeClient,
  daemon: TestDaemon,
  { title, command }: { title: string; command: string },
): Promise<{ sessionId: string; approvalId: string }> {
  const { id: sessionId } = await client.call('session.create', {
    agent: 'demo',
    cwd: daemon.project,
    mode: 'ask',
    title,
  })
  await client.call('session.send', { sessionId, content: `[[shell ${command}]]` })
  const approvals = await until(
    async () => {
      const found = await client.call('approval.list', { sessionId })
      return found.approvals.length > 0 && found.approvals
    },
    () => `${title} asks`,
  )
  return { sessionId, approvalId: approvals[0]!.id }
}

/** A session whose turn has ended. */
export async function ended(
  client: NativeClient,
  daemon: TestDaemon,
  title: string,
  content = 'hello',
): Promise<string> {
  const { id: sessionId } = await client.call('session.create', {
    agent: 'demo',
    cwd: daemon.project,
    mode: 'auto',
    title,
  })
  await client.call('session.send', { sessionId, content })
  await until(
    async () => (await client.call('session.get', { sessionId })).lastOutcome !== null,
    () => `${title} has ended`,
  )
  return sessionId
}

/** What became of an approval, once it is decided. */
export async function decided(client: NativeClient, approvalId: string) {
  return until(
    async () => {
      const { decision, decidedBy } = await client.call('approval.get', { approvalId })
      return decision && { ...decision, by: decidedBy }
    },
    () => `${approvalId} is decided`,
  )
}

/** The titles below a heading of Now, from top to bottom. */
export function titlesIn(page: Page, group: string): Promise<string[]> {
  return page.evaluate((name) => {
    const lines = [...document.querySelectorAll('.session-list .group-head, .session-list .session-row-name')]
    const from = lines.findIndex((line) => line.querySelector('.group-fold span')?.textContent === name)
    if (from < 0) return []
    const rest = lines.slice(from + 1)
    const to = rest.findIndex((line) => line.classList.contains('group-head'))
    return (to < 0 ? rest : rest.slice(0, to)).map((line) => line.textContent)
  }, group)
}

/** Waits until exactly these are below a heading of Now. */
export async function untilIn(page: Page, group: string, titles: readonly string[]): Promise<void> {
  let seen: string[] = []
  await until(
    async () => {
      seen = await titlesIn(page, group)
      return seen.join('\n') === titles.join('\n') || (titles.length === 0 && seen.length === 0)
    },
    () => `${group} has ${titles.join(', ') || 'nothing'}; it has ${seen.join(', ')}`,
  )
}

/** What the corner says, or has said. */
export async function untilToast(page: Page, pattern: RegExp): Promise<void> {
  let said: string[] = []
  await until(
    async () => (said = await toasts(page)).some((text) => pattern.test(text)),
    () => `the corner says ${String(pattern)}; it has said ${said.join(', ') || 'nothing'}`,
  )
}
