import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Device } from '../core/devices.ts'
import type { AgentModel } from '../core/event.ts'
import type { KnownLimits } from '../core/limits.ts'
import type { DaemonWrite, Log, Write } from '../core/ports.ts'
import type { Project } from '../core/projects.ts'
import type { Rules } from '../core/rule.ts'
import type { Query, QueryOne, Row } from './event-page.ts'

/** What belongs to no session: rules of directories, projects, devices, the daemon's name, what agents tell of themselves. */
export function readDaemon(all: Query, one: QueryOne) {
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
    limits: (agent) =>
      orNull(one('SELECT value FROM meta WHERE key = ?', `limits ${agent}`), (row) =>
        parse<KnownLimits>(row['value']),
      ),
    project: (id) =>
      orNull(one('SELECT state FROM projects WHERE id = ?', id), (row) => parse<Project>(row['state'])),
    projects: () =>
      all('SELECT state FROM projects ORDER BY created_at, id').map((row) => parse<Project>(row['state'])),
    device: (id) => orNull(one('SELECT * FROM devices WHERE id = ?', id), deviceOf),
    devices: () => all('SELECT * FROM devices ORDER BY paired_at, id').map(deviceOf),
    deviceByToken: (hash) => orNull(one('SELECT * FROM devices WHERE token_hash = ?', hash), deviceOf),
    deviceTokenHash: (id) =>
      orNull(one('SELECT token_hash FROM devices WHERE id = ?', id), (row) => row['token_hash'] as string),
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
  } satisfies Partial<Log>
}

/** How each kind of write is done. */
export type Writers<O extends Write['op']> = { [K in O]: (write: Extract<Write, { op: K }>) => unknown }

export function writeDaemon(db: DatabaseSync): Writers<DaemonWrite['op']> {
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

  return {
    directory: (w) => directory.run(w.directory.path, JSON.stringify(w.directory.rules)),
    name: (w) => name.run(w.name),
    models: (w) => models.run(`models ${w.agent}`, JSON.stringify(w.models)),
    limits: (w) => limits.run(`limits ${w.agent}`, JSON.stringify(w.limits)),
    project: (w) => project.run(w.project.id, w.project.createdAt, JSON.stringify(w.project)),
    'project.delete': (w) => projectDelete.run(w.id),
    device({ tokenHash, device: d }) {
      device.run(d.id, tokenHash, d.name, d.platform, JSON.stringify(d.scopes), d.pairedAt, d.lastSeenAt)
    },
    'device.name': (w) => deviceName.run(w.name, w.id),
    'device.seen': (w) => deviceSeen.run(w.at, w.id),
    'device.delete': (w) => deviceDelete.run(w.id),
  }
}

export function orNull<T>(row: Row | undefined, read: (row: Row) => T): T | null {
  return row ? read(row) : null
}

export function parse<T>(value: SQLInputValue | undefined): T {
  return JSON.parse(value as string) as T
}

function deviceOf(row: Row): Device {
  return {
    id: row['id'] as string,
    name: row['name'] as string,
    platform: row['platform'] as Device['platform'],
    scopes: parse<Device['scopes']>(row['scopes']),
    pairedAt: row['paired_at'] as number,
    lastSeenAt: row['last_seen_at'] as number | null,
  }
}
