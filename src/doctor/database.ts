import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { SCHEMA_VERSION } from '../store/schema.ts'
import { type Check, checksOf } from './check.ts'
import { sized } from './home.ts'

export interface Database {
  path: string
  size: number
  /** The number of its schema; null when it cannot be opened. */
  schema: number | null
  /** Why it cannot be read; nothing else is known of it then. Null: it can be. */
  locked: string | null
  /** What is wrong with it; null when nothing was found. */
  damage: string | null
  /** Every page was looked at. */
  thorough: boolean
}

/** Null: there is none yet. Nothing is written, not even the files that SQLite usually puts beside a database. */
export function lookAtDatabase(path: string, thorough: boolean): Database | null {
  const found = { path, size: 0, schema: null, locked: null, damage: null, thorough }
  try {
    found.size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    // A daemon makes the file before it fills it.
    if (found.size === 0) return null
    accessSync(path, constants.R_OK)
  } catch (thrown) {
    return { ...found, locked: (thrown as Error).message }
  }
  try {
    const db = openToLook(path)
    try {
      const schema = Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
      return { ...found, schema, damage: damageIn(db, thorough) }
    } finally {
      db.close()
    }
  } catch (thrown) {
    return { ...found, damage: (thrown as Error).message }
  }
}

function openToLook(path: string): DatabaseSync {
  const live = existsSync(`${path}-wal`)
  const place = pathToFileURL(path)
  if (!live) place.searchParams.set('immutable', '1')
  return new DatabaseSync(place, { readOnly: true, timeout: 2000 })
}

/** A large log takes seconds: a daemon, which has better things to do, only looks at its table of contents. */
function damageIn(db: DatabaseSync, thorough: boolean): string | null {
  if (!thorough) {
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    return null
  }
  const said = db.prepare('PRAGMA quick_check(1)').get()?.['quick_check']
  return said === 'ok' ? null : String(said)
}

const { ok, skipped, error } = checksOf('home')

export function judgeDatabase(found: Database | null): Check {
  if (!found) return skipped('sqlite', 'no log yet')
  const { path, schema, locked, damage, size, thorough } = found
  if (locked !== null) {
    const fix = 'give yourself the right to read it, or name another directory with CORRAL_HOME or --home'
    return error('sqlite', `${path} cannot be read: ${locked}`, fix)
  }
  if (damage !== null || schema === null) {
    const fix =
      'stop the daemon and put a copy of the file back if you have one; else the next start sets a log that cannot be opened aside and begins a new one'
    return error('sqlite', `${path} is damaged: ${damage?.replaceAll('\n', ' ')}`, fix)
  }
  if (schema > SCHEMA_VERSION) {
    const fix = 'upgrade Corral, or point CORRAL_HOME at another directory'
    return error('sqlite', `${path} was written by a newer Corral (schema ${schema})`, fix)
  }
  const state = thorough ? 'is healthy' : 'opens'
  const update = schema < SCHEMA_VERSION ? `; the next start brings it to ${SCHEMA_VERSION}` : ''
  return ok('sqlite', `the log ${state}, schema ${schema}${update}, ${sized(size)}`)
}
