// How far the photos are read, and how long that takes.
import { count, photos } from "./dom.js";

const settles = 5000; // milliseconds after which the speed is known
let since = null; // {time, read} when the reading was first seen

// reading says how far it is, "" if there is nothing to read.
export function reading({ found, embedded, failed, scanning }, now = performance.now()) {
  const read = embedded + failed;
  if (!scanning && read >= found) {
    since = null;
    return "";
  }
  since ??= { time: now, read };
  const took = now - since.time;
  const left = took > settles && read > since.read ? (found - read) * took / (read - since.read) : 0;
  return `${count(read)} of ${photos(found)} read` + (left > 0 ? `, about ${duration(left)} left` : "");
}

function duration(milliseconds) {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 90) {
    return `${seconds} s`;
  }
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
