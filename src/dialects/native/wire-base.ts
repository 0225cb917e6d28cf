import { z } from 'zod'

/** The small pieces that everything on the wire is made of. */

export const id = z.string().min(1).max(200)
export const seq = z.int().min(0)
export const time = z.number()

export const sessionId = id.describe('id of a session')
export const turnId = id.describe('id of a turn')
export const approvalId = id.describe('id of an approval')
export const cursor = seq.describe('a `seq` of the log')
export const key = z
  .string()
  .min(1)
  .max(200)
  .describe('the same key twice has one effect: safe to send again')
export const origin = z.string().min(1).max(64).describe('name of the client, for the log')

export const machine = z.string().min(1).max(64).describe('name of a machine')
