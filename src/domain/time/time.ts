const TIME = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

/** True for a time of RFC 3339 with seconds and a zone, from the year 1000 on. */
export const isTime = (text: string): boolean => TIME.test(text) && !Number.isNaN(Date.parse(text))
