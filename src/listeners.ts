import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { createDeviceAccess } from './access/devices.ts'
import { invitationTo } from './access/invitation.ts'
import type { Config } from './config/config.ts'
import type { Engine } from './core/api.ts'
import { CorralError } from './core/error.ts'
import { uuid } from './core/ids.ts'
import type { SignIn } from './core/signin.ts'
import { clawdeDialect, clawdeSettings, createClawdeListener } from './dialects/clawde/index.ts'
import { codecastDialect, readCodecastSettings } from './dialects/codecast/index.ts'
import { humanlayerDialect, readHumanLayerSettings } from './dialects/humanlayer/index.ts'
import { MCP_PATH, mcpDialect } from './dialects/mcp/http.ts'
import { relayDialect, relayPort, type RelayOptions } from './dialects/relay/index.ts'
import { nativeDialect, UNAUTHORIZED, type AgentReport } from './dialects/native/index.ts'
import { readDaemonId } from './system/daemon-id.ts'
import type { Logger } from './system/logger.ts'
import { advertise, wantsAdvertising, type Advertiser } from './system/mdns.ts'
import { createUpdates } from './system/update.ts'
import { watchForUpdates } from './system/update-watch.ts'
import { createHttpApp } from './transports/http.ts'
import { listenUnix } from './transports/unix.ts'
import { createWorkspace } from './workspace/service.ts'

export interface ListenerParts {
  config: Config
  env: NodeJS.ProcessEnv
  homedir: string
  engine: Engine
  signin: SignIn
  logger: Logger
  /** A line for the person who started the daemon. */
  print: (line: string) => void
  control: Control
  /** Where each listens, and why those that do not do not; filled in as that becomes known. */
  addresses: Record<string, string>
  troubles: Record<string, string>
}

type Control = Parameters<typeof nativeDialect>[0]['daemon'] & {
  reports: () => Promise<AgentReport[]>
  resources: Parameters<typeof clawdeDialect>[0]['resources']
  metrics: () => string
  spares: RelayOptions['spares']
  detect: RelayOptions['agent']
  abilities: RelayOptions['abilities']
}

/** Every listener on its own: one that cannot be opened is a warning, none at all is the end. Returns how to close them. */
export async function openListeners(parts: ListenerParts): Promise<() => Promise<void>> {
  const { config, env, homedir, engine, logger, print, control, addresses, troubles } = parts
  const { version } = control
  const closers: (() => Promise<void>)[] = []
  const onFault = (error: unknown): void => logger.error({ error }, 'a fault of ours')
  const app = createHttpApp({ bodyLimit: config.http.bodyLimit, onError: onFault })

  async function open(name: string, work: () => Promise<string>): Promise<void> {
    try {
      addresses[name] = await work()
    } catch (error) {
      const reason = (error as Error).message
      troubles[name] = reason
      print(`warning: ${name} is not listening: ${reason}`)
      logger.warn({ name, reason }, 'a listener could not be opened')
    }
  }

  const devices = createDeviceAccess(engine, {
    now: Date.now,
    pinTtlMs: config.pairing.pinTtlMs,
    warn: (message, error) => logger.warn({ error }, message),
  })
  const mcp = mcpDialect(engine, { version, home: homedir, bodyLimit: config.http.bodyLimit, onFault })
  await mcp.start(app)
  closers.push(() => mcp.stop())
  let repoChanged: ReturnType<typeof clawdeDialect>['repoChanged'] = () => {}
  const workspace = createWorkspace({
    env,
    worktrees: join(config.home, 'worktrees'),
    changed: (status) => repoChanged(status),
    problem: (root, why) => logger.warn({ root, why }, 'a repository cannot be watched'),
  })
  const nameOf = (): string => engine.name ?? hostname()
  const native = nativeDialect({
    engine,
    workspace,
    devices,
    signin: parts.signin,
    daemon: control,
    agents: control.reports,
    async invite(pin) {
      const address = addresses['clawde']
      if (address === undefined) return null
      return invitationTo(address, { pin, name: nameOf(), daemonId: await readDaemonId(config.home) })
    },
    onFault,
  })
  await Promise.all([
    open('native', async () => {
      const privateDirectory = dirname(config.socket) === config.home
      const listener = await listenUnix({ path: config.socket, accept: native, privateDirectory })
      closers.push(() => listener.close())
      return config.socket
    }),
    config.codecast.enabled &&
      open('codecast', async () => {
        const settings = await readCodecastSettings(env, homedir)
        const dialect = codecastDialect(engine, {
          settings: {
            ...settings,
            port: config.codecast.port ?? settings.port,
            bind: config.codecast.bind ?? settings.bind,
          },
          home: homedir,
          log: logger,
          corralVersion: version,
          bodyLimit: config.http.bodyLimit,
          otherUsers: config.http.otherUsers,
          startedAt: control.startedAt,
        })
        dialect.routes(app)
        const { url, port } = await dialect.start(app)
        const wanted = config.codecast.port ?? settings.port
        if (wanted !== 0 && wanted !== port) {
          troubles['codecast'] = `port ${wanted} is taken, using ${port}`
          print(`codecast: ${troubles['codecast']}`)
        }
        closers.push(() => dialect.stop())
        return url
      }),
    config.humanlayer.enabled &&
      open('humanlayer', async () => {
        const { socket: chosen, agent, askAlways, lineLimit } = config.humanlayer
        const cwd = process.cwd()
        const settings = readHumanLayerSettings({ env, home: homedir, cwd, socket: chosen })
        for (const warning of settings.warnings) logger.warn({}, `HumanLayer: ${warning}`)
        const { socket, privateDirectory } = settings
        const reported = settings.version ?? version
        const dialect = humanlayerDialect({
          engine,
          options: { agent, askAlways, socket, home: homedir, cwd, version: reported },
          lineLimit,
          onFault,
        })
        const listener = await dialect.listen(privateDirectory)
        closers.push(() => listener.close())
        return socket
      }),
    config.clawde.enabled &&
      open('clawde', async () => {
        const settings = clawdeSettings({ env, home: homedir, platform: process.platform, ...config.clawde })
        const around = { engine, devices, settings, version, startedAt: control.startedAt, onFault }
        const listener = createClawdeListener({ ...around, log: logger, metrics: control.metrics })
        listener.serve('/native', {
          code: UNAUTHORIZED,
          accept: (connection, { device }) => native(connection, device),
        })
        const updates = createUpdates({
          settings: config.updates,
          current: version,
          directory: join(config.home, 'updates'),
        })
        const daemonId = await readDaemonId(config.home)
        let neighbours: Advertiser | null = null
        const dialect = clawdeDialect({
          ...around,
          updates,
          resources: control.resources,
          listener,
          workspace,
          home: homedir,
          dataDir: config.home,
          cwd: process.cwd(),
          daemonId,
          providers: control.reports,
          examine: async () => (await control.examine()).checks,
          newId: uuid,
          isAdvertised: () => neighbours !== null,
        })
        repoChanged = dialect.repoChanged
        const warn = (message: string, error: unknown): void => logger.warn({ error }, message)
        const stopAsking = watchForUpdates(updates, dialect.updateAvailable, warn)
        closers.push(async () => {
          stopAsking()
          await listener.stop()
        })
        const address = await listener.start()
        if (wantsAdvertising(config.clawde.mdns, address.startsWith('wss:'))) {
          const name = nameOf()
          const advertiser = await advertise({ port: listener.port, version, daemonId, name }, warn)
          neighbours = advertiser
          closers.push(() => advertiser.stop())
        }
        return address
      }),
    config.relay.enabled &&
      open('relay', async () => {
        const { port, enabled: _, ...bounds } = config.relay
        const dialect = relayDialect({
          ...bounds,
          ...config.http,
          engine,
          spares: control.spares,
          agent: control.detect,
          abilities: control.abilities,
          directory: join(config.home, 'relay'),
          env,
          version,
          startedAt: control.startedAt,
          newId: uuid,
          warn: (message, error) => logger.warn({ error }, message),
          onFault,
        })
        const listener = await dialect.listen(port ?? relayPort(env))
        closers.push(() => dialect.stop())
        return listener.url
      }),
  ])
  if (addresses['clawde']) addresses['native-ws'] = `${addresses['clawde']}/native`
  if (addresses['codecast']) addresses['mcp'] = `${addresses['codecast']}${MCP_PATH}`
  if (Object.keys(addresses).length === 0) {
    throw new CorralError('internal', 'Nothing could be listened on; see the warnings above')
  }
  return async () => {
    await Promise.all(closers.map((close) => close()))
    await workspace.stop()
    await app.close()
  }
}
