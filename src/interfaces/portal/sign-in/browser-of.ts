import type { FastifyRequest } from 'fastify'
import type { Browser } from '../../../domain/sign-in/devices.ts'
import { clientOf } from '../../../http/addresses/client.ts'

export const deviceCookie = (isSecure: boolean): string => (isSecure ? '__Host-device' : 'device')

export const browserOf = (request: FastifyRequest): Browser => ({
  userAgent: request.headers['user-agent'] ?? '',
  device: request.cookies[deviceCookie(true)] ?? request.cookies[deviceCookie(false)],
  ...clientOf(request),
})
