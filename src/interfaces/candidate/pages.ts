import path from 'node:path'
import { Eta } from 'eta'
import type { FastifyReply } from 'fastify'
import { timeInWords } from '../../domain/format-time.ts'
import type { InviteStatus } from '../../domain/invites/invites.ts'

/** A page for each state an invite can be in, and for what goes wrong. */
export type PageName = InviteStatus | 'unknown' | 'refused' | 'failure'

const eta = new Eta({ views: path.join(import.meta.dirname, 'templates'), cache: true })

/** Renders a page; everything in it that comes from users is escaped. */
export const render = (page: PageName, facts: object): string => eta.render(`./${page}.eta`, { ...facts, inWords, isWebAddress })

export const sendPage = (reply: FastifyReply, status: number, page: PageName, facts: object): FastifyReply =>
  reply.code(status).type('text/html; charset=utf-8').send(render(page, facts))

/** How the pages put things into words. */
const inWords = {
  time: timeInWords,
  /** "20 minutes", "1 minute 30 seconds". */
  duration: (seconds: number): string =>
    [count(Math.floor(seconds / 60), 'minute'), count(seconds % 60, 'second')].filter((part) => !part.startsWith('0 ')).join(' '),
  count: (number: number, noun: string): string => count(number, noun),
}

/** Only these become links: what an organization loads as the address of a medium could also be a script's. */
const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
