import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { INVITATION_PATH } from '../../domain/invites/links.ts'

const content = readFileSync(path.join(import.meta.dirname, 'assets', 'candidate.css'))

/** The stylesheet, under an address with a hash of its content: another content has another address. */
export const STYLESHEET = `${INVITATION_PATH}/assets/candidate.${hash('sha256', content).slice(0, 12)}.css`

/** What the pages load, kept by browsers for good. */
export function serveAssets(app: FastifyInstance): void {
  app.get(STYLESHEET.slice(INVITATION_PATH.length), async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=31536000, immutable').type('text/css; charset=utf-8').send(content),
  )
}
