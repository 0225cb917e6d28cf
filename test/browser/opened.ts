import type { TestContext } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { NativeClient } from '../../src/client/client.ts'
import type { TestDaemon, TestDaemonOptions } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { aPlace, type Checkout } from '../workspace/support.ts'
import {
  browserFor,
  daemonFor,
  nativeFor,
  originOf,
  quiet,
  signIn,
  visit,
  type BrowserOptions,
} from './support.ts'

export interface Opened {
  daemon: TestDaemon
  client: NativeClient
  page: Page
  /** Goes to a page of the dashboard, and waits until it has what it shows. */
  go(path: string): Promise<void>
}

/** A daemon, and a browser that has signed in to it. */
export async function opened(
  t: TestContext,
  { daemon: daemonOptions, ...options }: BrowserOptions & { daemon?: TestDaemonOptions } = {},
): Promise<Opened> {
  const daemon = await daemonFor(t, daemonOptions)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon, options)).page()
  await signIn(page, client)
  return {
    daemon,
    client,
    page,
    go: (path) => visit(page, originOf(daemon) + path),
  }
}

/** A repository, and a session that works in it. */
export async function inRepository(
  t: TestContext,
  client: NativeClient,
  files: Record<string, string>,
  more: { agent?: string; worktree?: boolean; title?: string } = {},
): Promise<{ repository: Checkout; sessionId: string; cwd: string }> {
  const place = aPlace()
  t.after(() => place.close())
  const repository = place.repo('shop', files)
  const { id, cwd } = await client.call('session.create', { agent: 'demo', cwd: repository.path, ...more })
  return { repository, sessionId: id, cwd }
}

/** A turn that does what `work` does, as far as anybody can tell: it runs until that is done. */
export async function turnThat(
  client: NativeClient,
  sessionId: string,
  work: () => void,
  said = '',
): Promise<string> {
  const { turnId } = await client.call('session.send', { sessionId, content: `${said}[[ask May I go on?]]` })
  const asked = await until(
    async () => (await client.call('approval.list', { sessionId, open: true })).approvals[0],
    'the turn is held',
  )
  work()
  await client.call('approval.decide', { approvalId: asked.id, behavior: 'respond', text: '[[say Done.]]' })
  await until(
    async () => (await client.call('turn.get', { turnId })).state === 'completed',
    'the turn is over',
  )
  return turnId
}

/** The dialog for a new session, when all in it has its place: the agents, and what is at the directory. */
export async function newSession(page: Page): Promise<Locator> {
  const dialog = page.getByRole('dialog', { name: 'New session' })
  await dialog.getByRole('radio', { name: 'Demo' }).waitFor()
  await quiet(page)
  return dialog
}

/** Nothing is wider than the screen. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const boxes = [document.documentElement, ...document.querySelectorAll('main')]
    return Math.max(...boxes.map((box) => box.scrollWidth - box.clientWidth))
  })
}
