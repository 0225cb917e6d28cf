import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { connect, type NativeClient } from '../../src/client/client.ts'
import { openChromium } from '../../test/support/chromium.ts'
import { type BenchDaemon, type DaemonOptions, startDaemon } from './server.ts'
import type { Workshop } from './workshop.ts'

const PROBE = readFileSync(join(import.meta.dirname, 'probe.js'), 'utf8')

/** A daemon, and a real browser that is signed in there. */
export interface Board {
  readonly daemon: BenchDaemon
  readonly client: NativeClient
  /** A tab that nothing is open in; `script` runs at the beginning of each of its pages. */
  tab(script?: string): Promise<Page>
  /** Ends the browser; the daemon stays. */
  leave(): Promise<void>
  close(): Promise<void>
}

/** What `probe.seen()` says of some frames. Times in ms. */
export interface Seen {
  frames: number
  /** Between two frames. */
  longest: number
  p99: number
  /** Frames that the browser itself calls long (more than 50 ms of work), and the longest of them. */
  late: number
  longestLate: number
  /** Pixels. */
  moved: number
}

export async function openBoard(shop: Workshop, options: DaemonOptions = {}): Promise<Board> {
  const daemon = await startDaemon(shop, options)
  const client = await connect(daemon.socket)
  const { context, close: leave } = await openChromium()
  const first = await context.newPage()
  await first.goto((await client.call('door.code')).url)
  await first.locator('[data-status="live"]').first().waitFor({ state: 'attached' })
  await first.goto('about:blank')
  return {
    daemon,
    client,
    async tab(script = '') {
      const page = await context.newPage()
      await page.addInitScript({ content: `${PROBE}\n${script}` })
      return page
    },
    leave,
    async close() {
      await leave()
      client.close()
      await daemon.stop()
    },
  }
}

/** Opens a page of the dashboard, and waits until it is live. */
export async function visit(page: Page, origin: string, path: string): Promise<void> {
  await page.goto(`${origin}${path}`)
  await page.locator('[data-status="live"]').first().waitFor({ state: 'attached' })
}

export function frameNote({ frames, p99, late, longestLate }: Seen): string {
  const long =
    late === 0 ? 'none called long by the browser' : `${late} long ones, at most ${longestLate.toFixed(0)} ms`
  return `${frames} frames, p99 ${p99.toFixed(1)} ms; ${long}`
}
