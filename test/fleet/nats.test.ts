import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { noNats, openProxy, startNats } from './nats-server.ts'
import { describeWay } from './suite.ts'

if (noNats === undefined)
  describeWay('by NATS', async (there) => {
    const server = await startNats()
    const proxy = await openProxy(server.port)
    const key = join(there.home, 'fleet.key')
    writeFileSync(key, randomBytes(32).toString('base64'))
    const settings = (url: string, name: string): NodeJS.ProcessEnv => ({
      CORRAL_FLEET_URL: url,
      CORRAL_FLEET_NAME: name,
      CORRAL_FLEET_KEY: key,
      CORRAL_FLEET_HEARTBEAT_MS: '5000',
    })
    Object.assign(there.env, settings(server.url, 'desk'))
    await there.terminate()
    await there.restart()
    return {
      target: null,
      env: settings(proxy.url, 'laptop'),
      cut: proxy.cut,
      block: proxy.shut,
      async close() {
        await proxy.close()
        await server.stop()
      },
    }
  })
else test('by NATS', { skip: noNats }, () => {})
