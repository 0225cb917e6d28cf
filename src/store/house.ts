import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Device } from '../core/devices.ts'
import type { AgentModel } from '../core/event.ts'
import type { KnownLimits } from '../core/limits.ts'
import type { HouseWrite, Log } from '../core/ports.ts'
import type { Project } from '../core/projects.ts'
import type { Rules } from '../core/rule.ts'
import type { Query, Row } from './event-page.ts'

/** What belongs to no session: rules of directories, projects, devices, the daemon's name, what agents tell of themselves. */
type HouseReader = Pick<
  Log,
  | 'directories'
  | 'daemonName'
  | 'models'
  | 'limits'
  | 'project'
  | 'projects'
  | 'device'
  | 'devices'
  | 'deviceByToken'
  | 'activeBelow'
>

export function readHouse(all: Query): HouseReader {
  const one = (text: string, ...values: SQLInputValue[]): Row | undefined => all(text, ...values)[0]
  return {
    directories: () =>
      all('SELECT path, rules FROM directories ORDER BY path').map((row) => ({
        path: row['path'] as string,
        rules: parse<Rules>(row['rules']),
      })),
    daemonName: () =>
      (one("SELECT value FROM meta WHERE key = 'name'")?.['value'] as string | undefined) ?? null,
    models(agent) {
      const row = one('SELECT value FROM meta WHERE key = ?', `models ${agent}`)
      return row ? parse<AgentModel[]>(row['value']) : []
    },
    limits(agent) {
      const row = one('SELECT value FROM meta WHERE key = ?', `limits ${agent}`)
      return row ? parse<KnownLimits>(row['value']) : null
    },
    project(id) {
      const row = one('SELECT state FROM projects WHERE id = ?', id)
      return row ? parse<Project>(row['state']) : null
    },
    projects: () =>
      all('SELECT state FROM projects ORDER BY created_at, id').map((row) => parse<Project>(row['state'])),
    device: (id) => deviceOf(one('SELECT * FROM devices WHERE id = ?', id)),
    devices: () => all('SELECT * FROM devices ORDER BY paired_at, id').map((row) => deviceOf(row)!),
    deviceByToken: (hash) => deviceOf(one('SELECT * FROM devices WHERE token_hash = ?', hash)),
    activeBelow(path) {
      const from = path === '/' ? '/' : `${path}/`
      const row = one(
        `SELECT max(active_at) AS at FROM sessions
         WHERE status <> 'destroyed' AND (cwd = ? OR (cwd >= ? AND cwd < ?))`,
        path,
        from,
        `${from.slice(0, -1)}0`, // the character after the slash
      )
      return (row?.['at'] as number | null) ?? null
    },
  }
}

export function createHouseWriter(db: DatabaseSync): (write: HouseWrite) => void {
  const directory = db.prepare(
    'INSERT INTO directories(path, rules) VALUES (?, ?) ON CONFLICT(path) DO UPDATE SET rules = excluded.rules',
  )
  const name = db.prepare("INSERT OR REPLACE INTO meta(key, value) VALUES ('name', ?)")
  const models = db.prepare('INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)')
  // What is not said again holds: the new object is laid over the old one.
  const limits = db.prepare(
    `INSERT INTO meta(key, value) VALUES (?, ?)
     ON CONFLICT(key) DO UPDATE SET value = json_patch(value, excluded.value)`,
  )
  const project = db.prepare(
    `INSERT INTO projects(id, created_at, state) VALUES (?, ?, ?)
     ON CONFLICT(id) DO UPDATE SET state = excluded.state`,
  )
  const projectDelete = db.prepare('DELETE FROM projects WHERE id = ?')
  const device = db.prepare(
    `INSERT INTO devices(id, token_hash, name, platform, scopes, paired_at, last_seen_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const deviceName = db.prepare('UPDATE devices SET name = ? WHERE id = ?')
  const deviceSeen = db.prepare('UPDATE devices SET last_seen_at = ? WHERE id = ?')
  const deviceDelete = db.prepare('DELETE FROM devices WHERE id = ?')

  return (w) => {
    switch (w.op) {
      case 'directory':
        directory.run(w.directory.path, JSON.stringify(w.directory.rules))
        return
      case 'name':
        name.run(w.name)
        return
      case 'models':
        models.run(`models ${w.agent}`, JSON.stringify(w.models))
        return
      case 'limits':
        limits.run(`limits ${w.agent}`, JSON.stringify(w.limits))
        return
      case 'project':
        project.run(w.project.id, w.project.createdAt, JSON.stringify(w.project))
        return
      case 'project.delete':
        projectDelete.run(w.id)
        return
      case 'device': {
        const { id, scopes, pairedAt, lastSeenAt, ...d } = w.device
        device.run(id, w.tokenHash, d.name, d.platform, JSON.stringify(scopes), pairedAt, lastSeenAt)
        return
      }
      case 'device.name':
        deviceName.run(w.name, w.id)
        return
      case 'device.seen':
        deviceSeen.run(w.at, w.id)
        return
      case 'device.delete':
        deviceDelete.run(w.id)
    }
  }
}

function parse<T>(value: SQLInputValue | undefined): T {
  return JSON.parse(value as string) as T
}

function deviceOf(row: Row | undefined): Device | null {
  if (!row) return null
  return {
    id: row['id'] as string,
    name: row['name'] as string,
    platform: row['platform'] as Device['platform'],
    scopes: parse<Device['scopes']>(row['scopes']),
    pairedAt: row['paired_at'] as number,
    lastSeenAt: row['last_seen_at'] as number | null,
  }
}
