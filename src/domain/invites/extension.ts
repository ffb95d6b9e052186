import { sql } from '../../db/builder.ts'
import type { Context } from '../context.ts'
import type { Issue } from '../errors.ts'
import { EXPIRY_DAYS } from '../limits.ts'
import { daysAfter } from '../time/days.ts'
import { checkInteger, findIssues } from '../validation/checks.ts'

/** A new expiry: the end of a day, or so many days after the current one. @property expiresAt end of the day. */
type Extension = { expiresOn?: string | undefined; addedDays?: number | undefined; expiresAt?: string }

export function findExtensionIssues({ deps }: Context, { expiresOn, expiresAt, addedDays }: Extension): Issue[] {
  if (expiresOn === undefined) return findIssues([['addedDays', checkInteger(addedDays ?? 0, EXPIRY_DAYS)]])
  const say = (problem: 'date' | 'future' | 'farFuture', limit?: number): Issue[] => [
    { field: 'expiresOn', rule: 'account', problem, ...(limit !== undefined && { limit }) },
  ]
  if (expiresAt === undefined) return say('date')
  const now = deps.clock()
  if (new Date(expiresAt) <= now) return say('future')
  return new Date(expiresAt) > daysAfter(now, EXPIRY_DAYS.maximum) ? say('farFuture', EXPIRY_DAYS.maximum) : []
}

/** Adds the end of the day that an extension names. An invalid date has none. */
export async function withExpiry<Given extends Extension>(ctx: Context, { ...params }: Given): Promise<Given & Extension> {
  const day = params.expiresOn
  if (day === undefined || !isDay(day)) return params
  const { timeZone } = await ctx.db.organization.findUniqueOrThrow({
    where: { id: ctx.organization.id },
    select: { timeZone: true },
  })
  const end = sql<Date>`(${day}::date + time '23:59') at time zone ${timeZone}`
  const { at } = await ctx.db.selectNoFrom(() => end.as('at')).executeTakeFirstOrThrow()
  return { ...params, expiresAt: at.toISOString() }
}

function isDay(text: string): boolean {
  const day = /^2\d{3}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : null
  return day !== null && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}
