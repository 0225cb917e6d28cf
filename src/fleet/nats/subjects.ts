/** The stream that has what machines tell of their sessions. */
export const STREAM = 'CORRAL'
/** The bucket with one entry for each machine that is there. */
export const BUCKET = 'corral_machines'

/** What a machine is asked: to look only, or to do something. They are two, so that an account can be allowed one of them. */
export type Kind = 'look' | 'act'

export const subjects = {
  /** All that the stream takes. */
  all: 'corral.ev.>',
  /** Of one log of a machine. */
  log: (machine: string, log: string) => `corral.ev.${machine}.${token(log)}.>`,
  session: (machine: string, log: string, session: string) =>
    `corral.ev.${machine}.${token(log)}.${session === '' ? '_' : token(session)}`,
  requests: (kind: Kind, machine: string) => `corral.${kind}.${machine}`,
  /** Where a machine is answered; nobody else may read there. */
  inbox: (machine: string) => `corral.re.${machine}`,
  presence: (machine: string) => `$KV.${BUCKET}.${machine}`,
  allPresence: `$KV.${BUCKET}.*`,
}

/** Ids are made of letters, digits and dashes; one that is not becomes so. */
function token(id: string): string {
  return /^[\w-]+$/.test(id) ? id : `=${Buffer.from(id).toString('base64url')}`
}
