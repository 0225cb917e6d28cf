import { after, before, type TestContext } from 'node:test'
import { connect, type NativeClient } from '../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { MAIN } from '../support/program.ts'
import { onScreen, type ScreenOptions, type TestScreen } from '../support/screen.ts'
import { newSession } from './support.ts'

/** A daemon for all tests of a file, and screens of the program on it. */
export interface Desk {
  daemon: TestDaemon
  client: NativeClient
  corral(t: TestContext, args: string[], given?: Partial<ScreenOptions>): TestScreen
  /** Attached to a new session, with the input ready. */
  attached(
    t: TestContext,
    given?: Partial<ScreenOptions>,
    ...setup: string[]
  ): Promise<{ id: string; screen: TestScreen }>
}

export function desk(): Desk {
  const here = { corral, attached } as Desk
  before(async () => {
    here.daemon = await startDaemon()
    here.client = await connect(here.daemon.socket)
  })
  after(async () => {
    here.client.close()
    await here.daemon.stop()
  })

  function corral(t: TestContext, args: string[], given: Partial<ScreenOptions> = {}): TestScreen {
    return onScreen(t, [process.execPath, MAIN, ...args], { env: here.daemon.env, ...given })
  }

  async function attached(t: TestContext, given: Partial<ScreenOptions> = {}, ...setup: string[]) {
    const id = await newSession(here.daemon, ...setup)
    const screen = corral(t, ['attach', id], given)
    await screen.sees(/\n>\n/)
    return { id, screen }
  }
  return here
}
