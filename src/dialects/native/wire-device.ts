import { z } from 'zod'
import { PLATFORMS, SCOPES } from '../../core/devices.ts'
import { id, time } from './wire-base.ts'

export const deviceId = id.describe('id of a device')
export const platform = z.enum(PLATFORMS)

export const device = z.object({
  id,
  name: z.string(),
  platform,
  scopes: z.array(z.enum(SCOPES)).describe('`manage`: it may let devices in and put them out'),
  pairedAt: time,
  lastSeenAt: time.nullable().describe('to the minute; null: it has not come back since'),
})
