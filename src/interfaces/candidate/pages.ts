import path from 'node:path'
import { Eta } from 'eta'
import type { FastifyReply } from 'fastify'
import { timeInWords } from '../../domain/format-time.ts'
import type { InviteStatus } from '../../domain/invites/invites.ts'
import { expectations, questionList, wordCount } from '../../http/candidate-view.ts'
import { toText } from '../../http/html.ts'

/** A page for each state an invite can be in, and for what goes wrong. */
export type PageName = InviteStatus | 'unknown' | 'refused' | 'failure'

const eta = new Eta({ views: path.join(import.meta.dirname, 'templates'), cache: true })

/** Renders a page; everything in it that comes from users is escaped. */
export const render = (page: PageName, facts: object): string => eta.render(`./${page}.eta`, { ...facts, inWords, views })

export const sendPage = (reply: FastifyReply, status: number, page: PageName, facts: object): FastifyReply =>
  reply.code(status).type('text/html; charset=utf-8').send(render(page, facts))

/** Parts of pages that others show as well. */
const views = {
  expectations: (assessment: Parameters<typeof expectations>[0]): string => toText(expectations(assessment)),
  questionList: (questions: Parameters<typeof questionList>[0]): string => toText(questionList(questions)),
}

/** How the pages put things into words. */
const inWords = {
  time: timeInWords,
  count: wordCount,
}
