'use strict';
const $ = id => document.getElementById(id);
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const element = (name, parent, text, attributes) => {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const key in attributes || {}) made.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(made);
  return made;
};
const digits = x => x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2);
const time = ns => ns === 0 ? '0' : Math.abs(ns) >= 1e9 ? digits(ns / 1e9) + ' s' : Math.abs(ns) >= 1e6 ? digits(ns / 1e6) + ' ms'
  : Math.abs(ns) >= 1e3 ? digits(ns / 1e3) + ' µs' : ns.toFixed(0) + ' ns';
const bytes = b => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let k = 0;
  while (b >= 1024 && k < units.length - 1) b /= 1024, ++k;
  return (k === 0 ? b.toFixed(0) : digits(b)) + ' ' + units[k];
};
const count = n => n.toLocaleString('en-US');
const share = (part, whole) => whole > 0 ? (100 * part / whole).toFixed(part / whole < 0.1 ? 1 : 0) + ' %' : '–';
const colour = op => `var(--c${op % 10})`;
const reasons = ['dependency', 'data', 'memory', 'slab', 'worker'];

// --- head
const title = data.title || 'A run of Tessera';
document.title = title;
$('title').textContent = title;
$('machine').textContent = data.machine;
if (data.dropped) element('p', $('notes'), `${count(data.dropped)} events found no room and are missing here: raise runtime.trace_limit.`, {class: 'note'});
if (data.failed) element('p', $('notes'), `${count(data.failed)} tasks failed.`, {class: 'note'});
if (data.unfinished) element('p', $('notes'), `${count(data.unfinished)} tasks were submitted and ${data.dropped ? 'are not seen to run' : 'never ran'}.`, {class: 'note'});
if (data.merged) element('p', $('notes'), 'There are so many tasks that short ones of one row have been merged in the timeline; all figures are exact.', {class: 'note'});
const figure = (value, label) => {
  const box = element('div', $('figures'));
  element('b', box, value);
  element('span', box, label);
};
figure(time(data.length), 'first submission to last end');
figure(count(data.tasks), data.views ? `tasks, and ${count(data.views)} views` : 'tasks');
const busy = kind => {
  const rows = data.tracks.filter(t => t.kind === kind);
  return rows.length ? share(rows.reduce((a, t) => a + t.busy, 0), rows.length * data.length) : null;
};
if (busy('interpreter')) figure(busy('interpreter'), 'workers of the program busy, on average');
else if (busy('worker')) figure(busy('worker'), 'workers busy, on average');
if (busy('stream')) figure(busy('stream'), 'device streams busy, on average');
figure(bytes(data.bytes), `in ${count(data.transfers)} transfers`);
figure(share(data.path.time, data.length), `of the run: critical path, ${time(data.path.time)}`);

// --- timeline
const canvas = $('timeline'), tip = $('tip');
const axis = 26, row_height = 24, group_gap = 22;
const group_names = {interpreter: 'Workers of the program', worker: 'Workers', stream: 'Devices', link: 'Links', program: 'Views held by the program'};
const rows = [];
const gutter = (() => {  // as wide as the longest name needs
  const c = canvas.getContext('2d');
  c.font = '12px ' + getComputedStyle(document.body).fontFamily;
  return Math.min(Math.max(...data.tracks.map(t => c.measureText(t.name).width), 90) + 28, Math.max(150, canvas.clientWidth / 4));
})();
{
  let y = axis + 4, group = null;
  for (const t of data.tracks) {
    if (t.kind !== group) group = t.kind, y += rows.length ? group_gap : 20, rows.push({label: group_names[group], y: y - 5});
    rows.push({track: t, y});
    y += row_height;
  }
  canvas.style.height = (y + 8) + 'px';
}
for (const t of data.tracks) {  // starts are stored as differences
  let at = 0;
  for (let k = 0; k < t.start.length; ++k) at += t.start[k], t.start[k] = at;
  // Slices of one row may lie in each other (a task that waits runs others): the longest one tells how far to look back.
  t.longest = 0;
  for (const d of t.length) if (d > t.longest) t.longest = d;
}
const total = Math.max(data.length, 1);
let from = 0, to = total;
const view_width = () => canvas.clientWidth - gutter - 12;
const x_of = t => gutter + (t - from) / (to - from) * view_width();
const t_of = x => from + (x - gutter) / view_width() * (to - from);
const first_at = (list, t) => {
  let a = 0, b = list.length;
  while (a < b) { const m = (a + b) >> 1; if (list[m] < t) a = m + 1; else b = m; }
  return a;
};
const marked = new Map();      // task -> colour: the chosen one, those before it and behind it
let found_operations = null;   // of the search; null: all
const on_path = new Set(data.path.tasks.map(t => t.task));

function nice_step(span) {
  const raw = span / Math.max(view_width() / 110, 1), power = Math.pow(10, Math.floor(Math.log10(raw)));
  return [1, 2, 5, 10].map(f => f * power).find(s => s >= raw);
}
// Enough digits to tell neighbours apart.
function tick_text(t, step) {
  const unit = total >= 1e9 ? [1e9, ' s'] : total >= 1e6 ? [1e6, ' ms'] : total >= 1e3 ? [1e3, ' µs'] : [1, ' ns'];
  return (t / unit[0]).toFixed(Math.max(0, Math.ceil(-Math.log10(step / unit[0]) - 1e-9))) + unit[1];
}

function draw() {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio), canvas.height = Math.round(height * ratio);
  const c = canvas.getContext('2d');
  c.scale(ratio, ratio);
  const ink = css('--ink'), quiet = css('--quiet'), grid = css('--grid'), bright = css('--bright'), font = getComputedStyle(document.body).fontFamily;
  const colours = Array.from({length: 10}, (_, k) => css('--c' + k));
  c.font = '12px ' + font;
  c.textBaseline = 'middle';
  const step = nice_step(to - from), last = gutter + view_width();
  c.textAlign = 'center';
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
    const x = Math.round(x_of(t)) + 0.5;
    c.strokeStyle = grid;
    c.beginPath(); c.moveTo(x, axis); c.lineTo(x, height); c.stroke();
    const text = tick_text(t, step), half = c.measureText(text).width / 2;
    if (x + half > width - 4) continue;
    c.fillStyle = quiet;
    c.fillText(text, x, axis / 2 + 2);
  }
  const show_path = $('show_path').checked, columns = Math.ceil(view_width());
  for (const row of rows) {
    c.textAlign = 'left';
    if (row.label) {
      c.fillStyle = quiet;
      c.font = '600 12px ' + font;
      c.fillText(row.label, 12, row.y - 6);
      c.font = '12px ' + font;
      continue;
    }
    const t = row.track, top = row.y + 2, bar = row_height - 6;
    c.fillStyle = ink;
    let name = t.name;
    while (c.measureText(name).width > gutter - 24 && name.length > 4) name = name.slice(0, -2);
    if (name !== t.name) name += '…';
    c.fillText(name, 12, row.y + row_height / 2 - 1);
    c.save();
    c.beginPath(); c.rect(gutter, 0, view_width(), height); c.clip();
    for (let k = 0; k + 1 < t.fences.length; k += 2) {  // under the tasks
      const a = Math.max(x_of(t.fences[k]), gutter), b = Math.min(x_of(t.fences[k + 1]), last);
      if (b < a) continue;
      c.fillStyle = grid;
      c.fillRect(a, top, Math.max(b - a, 1), bar);
    }
    for (let k = 0; k + 2 < t.bands.length; k += 3) {  // the program waits for a block, or for its other threads
      const a = Math.max(x_of(t.bands[k]), gutter), b = Math.min(x_of(t.bands[k + 1]), last);
      if (b < a) continue;
      c.fillStyle = t.bands[k + 2] ? css('--worker') : css('--data');
      c.globalAlpha = 0.35;
      c.fillRect(a, top + bar * 0.35, Math.max(b - a, 1), bar * 0.3);
      c.globalAlpha = 1;
    }
    const used = new Map();  // pixel column -> time per operation
    for (let k = first_at(t.start, from - t.longest); k < t.start.length && t.start[k] < to; ++k) {
      const begin = t.start[k], end = begin + t.length[k];
      if (end < from) continue;
      const a = x_of(begin), b = x_of(end), op = t.operation[k];
      if (b - a < 1.5) {
        const column = Math.floor(a) - gutter;
        if (column < 0 || column >= columns) continue;
        let sums = used.get(column);
        if (!sums) used.set(column, sums = new Map());
        sums.set(op, (sums.get(op) || 0) + (t.busy_in ? t.busy_in[k] : t.length[k]));
        continue;
      }
      const left = Math.max(a, gutter - 2), right = Math.min(b, last + 2);
      c.fillStyle = t.kind === 'link' ? colours[7] : colours[op % 10];
      c.globalAlpha = t.busy_in ? 0.25 + 0.75 * Math.min(1, t.busy_in[k] / Math.max(t.length[k], 1)) : t.kind === 'program' ? 0.45 : 1;
      c.fillRect(left, top, Math.max(right - left - (right - left > 4 ? 0.6 : 0), 1), bar);
      c.globalAlpha = 1;
      const mark = t.task && marked.get(t.task[k]);
      if (mark || (show_path && t.task && on_path.has(t.task[k]))) {
        c.strokeStyle = mark ? css(mark) : ink;
        c.lineWidth = 2;
        c.strokeRect(left + 1, top + 1, Math.max(right - left - 2, 1), bar - 2);
        c.lineWidth = 1;
      } else if (found_operations && !found_operations.has(op)) {
        c.fillStyle = css('--card');
        c.globalAlpha = 0.75;
        c.fillRect(left, top, right - left, bar);
        c.globalAlpha = 1;
      }
      const label = t.kind === 'link' ? data.blocks[t.block[k]] : data.operations[op];
      const room = Math.min(right, last) - Math.max(left, gutter);
      if (room > 26 && c.measureText(label).width < room - 8) {
        c.fillStyle = t.kind === 'program' ? ink : bright;
        c.textAlign = 'center';
        c.fillText(label, (Math.max(left, gutter) + Math.min(right, last)) / 2, top + bar / 2 + 0.5);
      }
    }
    const per_pixel = (to - from) / view_width();
    for (const [column, sums] of used) {
      let most = -1, op = 0, sum = 0;
      for (const [o, ns] of sums) { sum += ns; if (ns > most) most = ns, op = o; }
      const h = Math.max(bar * Math.min(sum / per_pixel, 1), 2);
      c.fillStyle = t.kind === 'link' ? colours[7] : colours[op % 10];
      c.fillRect(gutter + column, top + bar - h, 1, h);
    }
    c.restore();
    c.strokeStyle = grid;
    c.beginPath(); c.moveTo(gutter, row.y + row_height - 0.5); c.lineTo(last, row.y + row_height - 0.5); c.stroke();
  }
}

function clamp_view(a, b) {
  const span = Math.min(Math.max(b - a, 50), total);
  from = Math.min(Math.max(a, 0), total - span);
  to = from + span;
  draw();
}
function zoom(factor, at) {
  const span = (to - from) * factor;
  clamp_view(at - (at - from) * factor, at - (at - from) * factor + span);
}
canvas.addEventListener('wheel', e => {
  e.preventDefault();
  const t = t_of(Math.max(e.offsetX, gutter));
  if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) clamp_view(from + e.deltaX / view_width() * (to - from), to + e.deltaX / view_width() * (to - from));
  else zoom(Math.exp(e.deltaY * 0.0015), t);
}, {passive: false});
let drag = null;
canvas.addEventListener('pointerdown', e => { drag = {x: e.clientX, from, to}; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener('pointerup', e => {
  if (drag && Math.abs(e.clientX - drag.x) < 3) choose(slice_at(e));
  drag = null;
});
canvas.addEventListener('dblclick', () => clamp_view(0, total));
canvas.addEventListener('keydown', e => {
  const span = to - from, moves = {ArrowLeft: -0.2, ArrowRight: 0.2};
  if (moves[e.key]) clamp_view(from + moves[e.key] * span, to + moves[e.key] * span);
  else if (e.key === '+' || e.key === '=') zoom(0.6, (from + to) / 2);
  else if (e.key === '-') zoom(1 / 0.6, (from + to) / 2);
  else return;
  e.preventDefault();
});
$('zoom_in').onclick = () => zoom(0.5, (from + to) / 2);
$('zoom_out').onclick = () => zoom(2, (from + to) / 2);
$('zoom_all').onclick = () => clamp_view(0, total);
$('show_path').onchange = draw;
canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
canvas.addEventListener('pointermove', e => {
  if (drag) {
    const shift = (drag.x - e.clientX) / view_width() * (drag.to - drag.from);
    tip.hidden = true;
    return clamp_view(drag.from + shift, drag.to + shift);
  }
  const hit = slice_at(e);
  if (!hit) { tip.hidden = true; return; }
  tip.textContent = words_for(hit.track, hit.slice);
  tip.hidden = false;
  const box = $('chart').getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(e.clientX - box.left + 14, box.width - tip.offsetWidth - 8)) + 'px';
  const y = e.clientY - box.top + 16;
  tip.style.top = (y + tip.offsetHeight > box.height ? Math.max(2, e.clientY - box.top - tip.offsetHeight - 10) : y) + 'px';
});
function slice_at(e) {
  const row = rows.find(r => r.track && e.offsetY >= r.y && e.offsetY < r.y + row_height);
  if (!row || e.offsetX < gutter) return null;
  const t = row.track, at = t_of(e.offsetX), reach = (to - from) / view_width();
  let best = -1;
  for (let k = first_at(t.start, at + reach) - 1; k >= 0 && t.start[k] >= at - t.longest - reach; --k)
    if (t.start[k] + t.length[k] >= at - reach && (best < 0 || t.length[k] < t.length[best])) best = k;
  return best < 0 ? null : {track: t, slice: best};
}
// A click marks a task, those before it and those behind it, and names them; each name leads on.
const places = new Map();  // task -> [track, slice]
for (const t of data.tracks) if (t.task) t.task.forEach((task, k) => places.set(task, [t, k]));
let behind = null;
function successors_of(task) {
  if (!behind) {
    behind = new Map();
    data.after.forEach((before, k) => { for (const b of before) (behind.get(b) || behind.set(b, []).get(b)).push(k); });
  }
  return behind.get(task) || [];
}
const use_words = ['read', 'written', 'updated', 'added to', 'scratch'];
const blocks_of = task => data.uses ? data.uses[task].blocks : [];
// What both name: why one waits for the other.
function shared_blocks(a, b) {
  const mine = new Set(blocks_of(a).map(u => u[0]));
  return blocks_of(b).filter(u => mine.has(u[0])).map(u => data.blocks[u[0]]);
}
function choose(hit) {
  marked.clear();
  const box = $('chosen');
  box.textContent = '';
  box.hidden = true;
  if (hit && hit.track.task && data.after) {
    const task = hit.track.task[hit.slice], before = data.after[task], after = successors_of(task);
    marked.set(task, '--ink');
    for (const b of before) marked.set(b, '--dependency');
    for (const a of after) marked.set(a, '--memory');
    box.hidden = false;
    element('pre', box, words_for(hit.track, hit.slice));
    const blocks = blocks_of(task);
    element('p', box, 'blocks: ' + (blocks.length
      ? blocks.slice(0, 40).map(u => `${data.blocks[u[0]]} (${use_words[u[1]]}, ${bytes(u[2])})`).join(', ') + (blocks.length > 40 ? ` and ${count(blocks.length - 40)} more` : '')
      : 'not known'), {class: 'blocks'});
    const row_of = (words, tasks) => {
      const line = element('p', box, `${words}: ${tasks.length ? '' : 'none'}`);
      for (const one of tasks.slice(0, 40)) {
        const [t, k] = places.get(one) || [];
        if (!t) continue;
        const through = shared_blocks(task, one);
        const button = element('button', line, `${data.operations[t.operation[k]]} ${data.sites[t.site[k]]}` +
          (through.length ? ` through ${through.slice(0, 3).join(', ')}${through.length > 3 ? ' …' : ''}` : ''), {type: 'button'});
        button.onclick = () => {
          const span = to - from, middle = t.start[k] + t.length[k] / 2;
          if (middle < from || middle > to) clamp_view(middle - span / 2, middle + span / 2);
          choose({track: t, slice: k});
        };
      }
      if (tasks.length > 40) line.append(` and ${count(tasks.length - 40)} more`);
    };
    row_of('comes after', before);
    row_of('is followed by', after);
  }
  draw();
}
$('search').oninput = () => {
  const wanted = $('search').value.trim().toLowerCase();
  found_operations = wanted ? new Set(data.operations.map((name, k) => name.toLowerCase().includes(wanted) ? k : -1).filter(k => k >= 0)) : null;
  $('found').textContent = wanted ? `${found_operations.size} of ${data.operations.length} operations` : '';
  draw();
};
function words_for(t, k) {
  const when = `${time(t.start[k])} to ${time(t.start[k] + t.length[k])} (${time(t.length[k])})`;
  if (t.kind === 'link')
    return `${data.blocks[t.block[k]]}, ${bytes(t.bytes[k])}${t.back[k] ? ', written back' : ''}\n${when}\n${bytes(t.bytes[k] / (t.length[k] || 1) * 1e9)}/s`;
  if (t.busy_in) return `${count(t.count[k])} tasks, mostly ${data.operations[t.operation[k]]}\n${when}, busy ${time(t.busy_in[k])}`;
  let text = `${data.operations[t.operation[k]]}\n${data.sites[t.site[k]]}\n${when}`;
  if (t.waits) text += '\nwaited: ' + reasons.map((r, j) => [r, t.waits[reasons.length * k + j]]).filter(w => w[1] > 0).map(w => `${w[0]} ${time(w[1])}`).join(', ');
  const flops = data.uses ? data.uses[t.task[k]].flops : -1;
  if (flops > 0 && t.length[k] > 0) text += `\n${digits(flops / t.length[k])} GFLOP/s`;
  if (on_path.has(t.task[k])) text += '\non the critical path';
  return text;
}
for (const op of data.by_operation) {
  const entry = element('span', $('legend'));
  element('i', entry).style.background = colour(op.operation);
  entry.append(data.operations[op.operation]);
}
new ResizeObserver(draw).observe(canvas.parentElement);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);

// --- tables
function table(parent, head, body) {
  const t = element('table', element('div', parent, null, {class: 'scroll'}));
  const top = element('tr', element('thead', t));
  for (const [text, kind] of head) element('th', top, text, {class: kind || ''});
  const rows_of = element('tbody', t);
  for (const cells of body) {
    const line = element('tr', rows_of, null, {class: cells.kind || ''});
    cells.forEach((cell, k) => {
      const td = element('td', line, cell instanceof Node ? null : cell, {class: head[k][1] || ''});
      if (cell instanceof Node) td.appendChild(cell);
    });
  }
  return t;
}
function stack(waits, whole) {
  const bar = document.createElement('div');
  reasons.forEach((r, k) => {
    const part = element('i', bar, null, {title: `${r}: ${time(waits[k])}`});
    part.style.width = (whole > 0 ? 100 * waits[k] / whole : 0) + '%';
    part.style.background = `var(--${r})`;
  });
  return bar;
}
const sum = list => list.reduce((a, b) => a + b, 0);
{
  const all = sum(data.waits);
  const key = element('div', $('waits'), null, {class: 'key'});
  reasons.forEach((r, k) => {
    const entry = element('span', key);
    element('i', entry).style.background = `var(--${r})`;
    entry.append(`${r} ${time(data.waits[k])} (${share(data.waits[k], all)})`);
  });
  const whole = stack(data.waits, all);
  whole.className = 'whole';
  $('waits').appendChild(whole);
  const most = Math.max(...data.by_operation.map(o => sum(o.waits)), 1);
  const body = data.by_operation.map(o => [data.operations[o.operation], count(o.tasks), time(o.time), time(o.time / o.tasks), time(o.longest),
    ...o.waits.map(time), stack(o.waits, most)]);
  const last = ['all', count(data.tasks), time(sum(data.by_operation.map(o => o.time))), '', '', ...data.waits.map(time), ''];
  last.kind = 'sum';
  body.push(last);
  table($('waits'), [['operation'], ['tasks', 'n'], ['running', 'n'], ['mean', 'n'], ['longest', 'n'], ...reasons.map(r => [r, 'n']), ['', 'stack']], body);
}
{
  const giga = (amount, ns) => amount < 0 ? 'not known' : ns > 0 ? digits(amount / ns) : '–';
  const most = (amount, bound) => amount < 0 ? '–' : bound > 0 ? giga(amount, bound) : 'not measured';
  table($('work'), [['operation'], ['GFLOP/s', 'n'], ['at most', 'n'], ['GB/s', 'n'], ['at most', 'n'], ['of the bound', 'n']],
    data.by_operation.map(o => [data.operations[o.operation], giga(o.flops, o.work_time), most(o.flops, o.bound), giga(o.bytes, o.work_time),
      most(o.bytes, o.bound), o.bound > 0 ? share(o.bound, o.work_time) : '–']));
}
{
  const rows_of = data.tracks.filter(t => t.idle.length && (t.busy || t.kind === 'stream'));
  if (rows_of.length)
    table($('idle'), [['worker or stream'], ['busy', 'n'], ['', 'n'], ...data.idle_causes.map(r => [r, 'n'])],
      rows_of.map(t => [t.name, time(t.busy), share(t.busy, data.length), ...t.idle.map(time)]));
}
{
  const p = data.path, parts = new Map();
  for (const t of p.tasks) {
    const one = parts.get(t.operation) || {tasks: 0, time: 0};
    ++one.tasks, one.time += t.length;
    parts.set(t.operation, one);
  }
  element('p', $('path'), `${count(p.tasks.length)} tasks, ${time(p.time)} together: ${share(p.time, data.length)} of the run's ${time(data.length)}.`);
  table($('path'), [['operation'], ['tasks on the path', 'n'], ['time', 'n'], ['share of the path', 'n']],
    [...parts].sort((a, b) => b[1].time - a[1].time).map(([op, one]) => [data.operations[op], count(one.tasks), time(one.time), share(one.time, p.time)]));
  const more = element('details', $('path'));
  const shown = p.tasks.slice(0, 500);
  element('summary', more, shown.length < p.tasks.length ? `The first ${shown.length} tasks, first to last` : 'All tasks of the path, first to last');
  table(more, [['operation'], ['submitted at'], ['ran on'], ['start', 'n'], ['time', 'n'], ['after the end of the one before', 'n']],
    shown.map((t, k) => [data.operations[t.operation], data.sites[t.site], t.where, time(t.start), time(t.length),
      k === 0 ? '' : time(Math.max(0, t.start - shown[k - 1].start - shown[k - 1].length))]));
}
{
  const most = Math.max(data.length, ...data.what_if.map(p => p.length), 1);
  const line = (name, ns, kind, note) => {
    const box = element('div', $('what_if'), null, {class: 'line ' + kind});
    element('span', box, name);
    element('i', element('div', box, null, {class: 'track'})).style.width = 100 * ns / most + '%';
    element('span', box, `${time(ns)}${note}`);
  };
  line('measured', data.length, 'real', '');
  const base = data.what_if[0].length;
  data.what_if.forEach((p, k) => line(k === 0 ? 'model: as recorded' : p.name, p.length, '',
    k === 0 ? `  (error of the model ${share(Math.abs(base - data.length), data.length)})`
            : p.length < base ? `  (${share(base - p.length, base)} shorter)` : '  (no gain)'));
  $('model').textContent = data.model;
}
if (data.links.length) {
  table($('links'), [['from'], ['to'], ['transfers', 'n'], ['written back', 'n'], ['bytes', 'n'], ['busy', 'n'], ['share of the run', 'n'], ['achieved', 'n'], ['nominal', 'n'], ['achieved / nominal', 'n']],
    data.links.map(l => [data.spaces[l.from].name, data.spaces[l.to].name, count(l.transfers), count(l.write_backs), bytes(l.bytes), time(l.busy), share(l.busy, data.length),
      l.achieved ? bytes(l.achieved) + '/s' : '–', l.nominal ? bytes(l.nominal) + '/s' : '–', l.nominal && l.achieved ? share(l.achieved, l.nominal) : '–']));
  element('p', $('links'), 'Busy: at least one copy was under way. Achieved: bytes over that time. A copy counts from when its stream could begin it to when its end was noticed, so that latency, and delays of noticing, are in it.', {class: 'quiet'});
} else {
  element('p', $('links'), 'There were none: all blocks stayed in one memory.');
}
const svg = (name, parent, attributes, text) => {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
};
for (const s of data.spaces) {
  const box = element('div', $('memory'), null, {class: 'space'});
  const head = element('h3', box, s.name + ' ');
  element('span', head, `peak ${bytes(s.peak)}${s.limit ? ' of ' + bytes(s.limit) + ' (' + share(s.peak, s.limit) + ')' : ''}` +
    (s.dropped + s.written_back ? `; ${count(s.dropped)} blocks dropped, ${count(s.written_back)} written back to make room` : '') +
    (s.slab_count ? `; ${bytes(s.slab_bytes)} from the plugin in ${count(s.slab_count)} ${s.slab_count === 1 ? 'slab' : 'slabs'}, which took ${time(s.slab_time)}` : ''));
  if (s.peak === 0) { element('p', box, 'never used', {class: 'quiet'}); continue; }
  const w = 1180, h = 92, left = 78, bottom = 18;
  // The limit belongs into the picture when memory came near it.
  const top = s.limit && s.peak > 0.5 * s.limit ? Math.max(s.limit, s.peak) : s.peak;
  const x = t => left + t / total * (w - left - 4), y = b => h - bottom - b / top * (h - bottom - 10);
  const chart = svg('svg', box, {viewBox: `0 0 ${w} ${h}`, role: 'img', 'aria-label': 'Bytes in use over time'});
  for (const part of [0, 0.5, 1]) {
    svg('line', chart, {x1: left, x2: w - 4, y1: y(part * top), y2: y(part * top), stroke: 'var(--grid)'});
    svg('text', chart, {x: left - 8, y: y(part * top) + 4, 'text-anchor': 'end'}, bytes(part * top));
  }
  let d = `M${x(0)},${y(0)}`;
  for (let k = 0; k < s.times.length; ++k) d += `H${x(s.times[k]).toFixed(1)}V${y(s.used[k]).toFixed(1)}`;
  d += `H${x(total)}`;
  svg('path', chart, {d: d + `V${y(0)}Z`, fill: 'var(--c0)', opacity: 0.18});
  svg('path', chart, {d, fill: 'none', stroke: 'var(--c0)', 'stroke-width': 1.5});
  if (s.limit && top >= s.limit) svg('line', chart, {x1: left, x2: w - 4, y1: y(s.limit), y2: y(s.limit), stroke: 'var(--memory)', 'stroke-dasharray': '5 4'});
  for (const [start, length, size] of s.slabs) {
    const bar = svg('rect', chart, {x: x(start).toFixed(1), y: 10, width: Math.max(2, x(start + length) - x(start)).toFixed(1), height: h - bottom - 10, fill: 'var(--c1)', opacity: 0.7});
    svg('title', bar, {}, `a slab of ${bytes(size)}: the plugin took ${time(length)}`);
  }
  svg('text', chart, {x: left, y: h - 2}, '0');
  svg('text', chart, {x: w - 4, y: h - 2, 'text-anchor': 'end'}, time(total));
}
