import { HttpError } from '../errors/failure.ts'

/** Fields of one form: far more than any page has. */
const MAX_FIELDS = 10_000

/**
 * The fields of a form, as browsers encode them by default. The time that URLSearchParams takes grows with the square of the fields without
 * a value: two megabytes of `&a` would stop the service for minutes.
 *
 * @throws HttpError body_too_large.
 */
export function parseFields(body: string): URLSearchParams {
  refuseTooManyFields(body, '&')
  return new URLSearchParams(body)
}

/** @param separator stands between any two fields. @throws HttpError body_too_large. */
export function refuseTooManyFields(body: string | Buffer, separator: string): void {
  let fields = 0
  for (let at = body.indexOf(separator); at >= 0; at = body.indexOf(separator, at + separator.length))
    if (++fields > MAX_FIELDS) throw new HttpError('body_too_large')
}
